/* What stands on a card whose question is closed: why, and a way to ask anew. */

import { postJson } from "./api.js";
import { button, fill, h, icon, toast } from "./dom.js";
import { t } from "./words.js";

const STAYS = {
  lapsed: t("Lapsed: nobody answered in time, and nothing was run."),
  changing: t("You asked for changes. The new plan takes its place here; this one cannot be approved."),
  answered: t("You asked for changes, and Silas answered in the Stream without a new plan."),
};

/** @param {"lapsed" | "changing" | "answered"} why */
export function fillClosed(event, why, note) {
  const again = button(t("Show again"), async () => {
    try {
      await postJson(`/work/${encodeURIComponent(event.work_item_id)}/ask`);
    } catch (error) {
      toast(error.message);
    }
  }, { class: "secondary", "data-testid": "show-again" });
  fill(note, h("p", { class: "warning" }, icon(why === "changing" ? "undo" : "alert"), h("span", {}, STAYS[why])),
    why === "changing" ? null : h("div", { class: "actions" }, again));
}
