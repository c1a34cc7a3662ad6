/* Which conversation this page shows, and the bar that says so. */

import { fill, h, icon } from "./dom.js";
import { on, state, stirs } from "./state.js";
import { t } from "./words.js";

export const HERE = "silas.conversation"; // of this tab

export const kept = () => sessionStorage.getItem(HERE) ?? "";
const rowOf = (id) => state.conversations.find((one) => one.id === id);

/** The title of what is shown, over it; a way to all the others. */
export function talkBar() {
  const title = h("span", { class: "talk-name", dir: "auto" });
  const news = h("span", { class: "talk-news" });
  const bar = h("div", { class: "talk-bar" },
    h("a", { href: "#/conversations", "data-testid": "talk-title" }, title, news, icon("next")));
  const draw = () => {
    const others = state.conversations.filter((one) => one.id !== state.conversation && !one.archived);
    const stirring = others.filter((one) => stirs(state, one.id).length).length;
    const here = rowOf(state.conversation);
    fill(title, here ? here.archived ? t("{title} (archived)", { title: here.title }) : here.title : t("Main conversation"));
    fill(news, stirring ? stirring === 1 ? t("1 other has news") : t("{many} others have news", { many: stirring }) : "");
    for (const link of document.querySelectorAll("[data-to=conversations]")) {
      link.classList.toggle("stirs", stirring > 0);
    }
  };
  on("conversations cards running stream all", draw);
  on("gone", () => import("./conversations.js").then(({ enter }) => enter(""))); // deleted, maybe on another device
  draw();
  return bar;
}
