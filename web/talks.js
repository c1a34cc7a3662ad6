/* Which conversation this page shows, and the bar that says so. */

import { getJson } from "./api.js";
import { fill, h, icon, toast } from "./dom.js";
import { emit, keepOlder, leaveFor, on, state, stirs } from "./state.js";

const HERE = "silas.conversation"; // of this tab

export const kept = () => sessionStorage.getItem(HERE) ?? "";
export const pathOf = (id) => `/conversations/${encodeURIComponent(id || "first")}`;
const rowOf = (id) => state.conversations.find((one) => one.id === id);

/** Show another conversation: at once, and what was said in it as soon as it has come. */
export async function enter(id) {
  if (id === state.conversation) return;
  const back = leaveFor(state, id);
  sessionStorage.setItem(HERE, id);
  emit("all", "stream", "conversations");
  try {
    const answer = await getJson(`/transcript?before=${state.seq + 1}&last=50&conversation=${encodeURIComponent(id || "first")}`);
    if (state.conversation !== id) return; // somebody went on meanwhile
    keepOlder(state, answer.transcript, !answer.complete);
  } catch (error) {
    if (state.conversation === id) back();
    sessionStorage.setItem(HERE, state.conversation);
    toast(error.message);
  }
  state.loading = false;
  emit("all", "stream", "conversations");
}

/** Bring what somebody said at a moment into view, with what was said before it as far as that takes. */
export async function reach(at, who) {
  const moment = new Date(at).getTime();
  const time = (one) => new Date(one.timestamp).getTime();
  for (let pages = 0; pages < 40 && !state.complete && !(time(state.transcript[0] ?? { timestamp: at }) < moment); pages += 1) {
    const first = state.transcript[0]?.seq ?? state.seq + 1;
    const answer = await getJson(`/transcript?before=${first}&last=200&conversation=${encodeURIComponent(state.conversation || "first")}`);
    keepOlder(state, answer.transcript, !answer.complete);
  }
  emit("stream");
  const nearest = state.transcript
    .filter((one) => one.type === "message" && (one.sender === "silas") === (who === "silas"))
    .sort((a, b) => Math.abs(time(a) - moment) - Math.abs(time(b) - moment))[0];
  if (!nearest) return;
  requestAnimationFrame(() => requestAnimationFrame(() => {
    const rows = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".log-list > li"))];
    const node = rows.find((one) => one.dataset.key === `m${nearest.id}`);
    if (!node) return;
    node.tabIndex = -1;
    node.scrollIntoView({ block: "center" });
    node.focus({ preventScroll: true });
  }));
}

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
    fill(title, here ? `${here.title}${here.archived ? " (archived)" : ""}` : "Main conversation");
    fill(news, stirring ? `${stirring === 1 ? "1 other has" : `${stirring} others have`} news` : "");
    for (const link of document.querySelectorAll("[data-to=conversations]")) {
      link.classList.toggle("stirs", stirring > 0);
    }
  };
  on("conversations cards running stream all", draw);
  draw();
  return bar;
}
