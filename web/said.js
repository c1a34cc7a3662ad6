/* What can be done with what was said: fetched when somebody first does it. */

import { getJson, postJson } from "./api.js";
import { copy } from "./code.js";
import { toast, visible } from "./dom.js";
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

/** What was said before all that is there; `steady` draws it without moving what is read. */
export async function loadOlder(steady) {
  const first = state.transcript[0]?.seq ?? state.seq;
  try {
    const answer = await getJson(`/transcript?before=${Math.max(1, first)}&last=200&conversation=${encodeURIComponent(state.conversation || "first")}`);
    keepOlder(state, answer.transcript, !answer.complete);
    steady(() => emit("stream"));
  } catch (error) {
    toast(error.message);
  }
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
