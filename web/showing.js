/* What you answered about showing folders to models elsewhere, and being asked again. */

import { command, getJson } from "./api.js";
import { twice } from "./asking.js";
import { fill, h } from "./dom.js";
import { dayOf } from "./time.js";
import { t } from "./words.js";

export async function showShowing(place) {
  const { directories } = await getJson("/showing");
  fill(place, h("h2", { class: "label-title" }, t("Which folders models elsewhere may see")),
    directories.length ? h("ul", { class: "rows", "data-testid": "showing" }, directories.map((one) => row(one, () => showShowing(place))))
      : h("p", { class: "small" }, t("You were not asked about any. Before a model elsewhere looks into a folder, you are asked once.")));
}

function row(one, done) {
  const again = twice({
    label: t("Ask me again"), of: one.workspace, yes: t("Yes, ask me again"), no: t("Leave it"), done,
    act: () => command("/showing/ask-again", "ask_again", one.workspace, { workspace: one.workspace }),
  });
  return h("li", { class: "row tall" }, h("p", { dir: "auto" }, h("b", {}, one.workspace)),
    one.answers.map((each) => h("p", { class: "small", dir: "auto", "data-answer": each.answer }, each.words,
      each.answered_at && ` ${dayOf(each.answered_at)}`)),
    again.foot, again.problem);
}
