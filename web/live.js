/* A page that shows what may change meanwhile is drawn anew when something happened, and never under
   the hands of whoever is about to answer on it. */

import { on } from "./state.js";

const PAUSE = 700; // ms: many entries of the record are one drawing

let shown = null; // { place, draw }
let due = 0;

export const always = () => true;

/**
 * From now on `draw` is called when something happened, for as long as this place shows it. It is given
 * `free`, which it asks once more when it has what it draws: a tap may have come meanwhile.
 */
export function live(place, draw) {
  shown = { place, draw };
}

on("happened", () => {
  due ||= setTimeout(() => { due = 0; again(); }, PAUSE);
});

async function again() {
  const one = shown;
  if (!one?.place.isConnected || busy(one.place)) return;
  const focused = one.place.contains(document.activeElement) ? name(document.activeElement) : "";
  await one.draw(() => shown?.place === one.place && !busy(one.place)).catch(() => undefined); // what was shown stays
  if (!focused || one.place.contains(document.activeElement)) return;
  /** @type {HTMLElement[]} */ ([...one.place.querySelectorAll("a, button, summary")]).find((node) => name(node) === focused)?.focus({ preventScroll: true });
}

/** Whether somebody is asked, writes, or has something under way there. */
function busy(place) {
  const writes = /** @type {HTMLInputElement[]} */ ([...place.querySelectorAll("input, textarea")]).some((field) => field.value);
  return writes || place.querySelector("button:disabled, .row-foot .danger:not([aria-label]), .shown-place > *, details[open]") !== null;
}

const name = (node) => node.getAttribute("aria-label") ?? node.getAttribute("href") ?? node.textContent;
