/* What can be done with what was said: fetched when somebody first does it. */

import { getJson, postJson } from "./api.js";
import { copy } from "./code.js";
import { toast, visible } from "./dom.js";
import { endAt, part, showAround, steady } from "./history.js";
import { answeringHere, emit, keepOlder, state } from "./state.js";

/** End the answer that is under way, and nothing else: what was approved goes on. */
export async function stopAnswer() {
  const [first] = answeringHere(state);
  try {
    await postJson(`/answers/${encodeURIComponent(first)}/stop`);
  } catch (error) {
    toast(error.message);
  }
}

const NEAR = 300; // pixels from an end within which the page holds more of what comes there

/**
 * Follow the hand: more of what was before, or of what came after, while what is read stays where it
 * is. `all` gives every row, `draw` draws, `fetch` brings older ones and is asked where none are left.
 */
export function scrolled(scroll, log, all, draw, fetch) {
  const above = scroll.scrollTop < NEAR;
  const below = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < NEAR;
  if (!above && !below) return undefined; // most of the time: no look at thousands of rows then
  const rows = all();
  const { begin, end } = part(rows);
  const step = endAt();
  if (above && begin > 0) endAt(rows[Math.max(1, end - step) - 1].key);
  else if (above && begin === 0) return fetch();
  else if (below && end < rows.length) endAt(rows[Math.min(rows.length, end + step) - 1].key);
  else return undefined;
  return steady(scroll, log, draw);
}

/** What was said before all that is there; `still` draws it without moving what is read. */
export async function loadOlder(still) {
  const first = state.transcript[0]?.seq ?? state.seq;
  try {
    const answer = await getJson(`/transcript?before=${Math.max(1, first)}&last=200&conversation=${encodeURIComponent(state.conversation || "first")}`);
    keepOlder(state, answer.transcript, !answer.complete);
    still(() => emit("stream"));
  } catch (error) {
    toast(error.message);
  }
}

/** Fetch what was before, 200 at a time and 40 times at most, until what is looked for is there. */
export async function loadUntil(there) {
  for (let pages = 0; pages < 40 && !state.complete && !there(); pages += 1) {
    const first = state.transcript[0]?.seq ?? state.seq + 1;
    const answer = await getJson(`/transcript?before=${first}&last=200&conversation=${encodeURIComponent(state.conversation || "first")}`);
    keepOlder(state, answer.transcript, !answer.complete);
  }
}

/** Bring a row of the conversation that is there into view: a message, or a result. */
export function showRow(key) {
  showAround(key);
  emit("stream");
  requestAnimationFrame(() => requestAnimationFrame(() => {
    const rows = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".log-list > li"))];
    const node = rows.find((one) => one.dataset.key === key);
    if (!node) return;
    node.tabIndex = -1;
    node.scrollIntoView({ block: "center" });
    node.focus({ preventScroll: true });
  }));
}

/** The message that asked for work, and then its result under it. */
export async function toMessage(id) {
  const there = () => state.transcript.some((one) => one.id === id);
  try {
    await loadUntil(there);
  } catch (error) {
    toast(error.message);
  }
  if (there()) showRow(`m${id}`);
}

export const copyWords = (node, text) => copy(visible(text), node.querySelector(".text"));

/** What was asked, in the field again: to be changed, and sent as a message that takes its place. */
export async function again(row, words, names) {
  const field = /** @type {HTMLTextAreaElement} */ (document.getElementById("say"));
  if (names.length) (await import("./attach.js")).again(names);
  state.replaces = row.id;
  field.value = words;
  field.dispatchEvent(new Event("input"));
  field.focus();
}
