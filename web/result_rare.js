/* What few results have: a question that got no answer, and checks that the work itself changed. */

import { postJson } from "./api.js";
import { problemPlace, trying } from "./asking.js";
import { button, h, icon } from "./dom.js";
import { t } from "./words.js";

/** Its question got no answer: the same plan is shown again, and needs a new yes. */
export function askAgainView(id) {
  const problem = problemPlace();
  const act = button(t("Ask about it again"), () => trying([act], problem, async () => {
    await postJson(`/work/${encodeURIComponent(id)}/ask`);
    location.hash = "#/review"; // that is where the question is
  }), { class: "secondary", "data-testid": "ask-anew" });
  return h("div", { class: "ask-again" }, act, problem);
}

/** A check that runs what the work wrote says little of it: each such file. */
export function checksChangedView(paths) {
  if (!paths?.length) return null;
  return h("div", { class: "checks-changed", "data-testid": "checks-changed" },
    h("p", {}, icon("alert"), h("span", {}, t("Its own checks run what this work changed:"))),
    h("ul", {}, paths.map((path) => h("li", {}, h("code", { dir: "auto" }, path)))));
}
