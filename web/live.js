/* A page that shows what may change meanwhile is drawn anew when something happened, and never under
   the hands of whoever is about to answer on it. */

import { on } from "./state.js";

const PAUSE = 700; // ms: many entries of the record are one drawing

let shown = null; // { place, draw }
let due = 0;
let late = false; // something happened while somebody was busy
let held = false; // a finger is down: what it is on stays there until it is lifted

export const always = () => true;

/**
 * From now on `draw` is called when something happened, for as long as this place shows it. It is given
 * `free`, which it asks once more when it has what it draws: a tap may have come meanwhile.
 */
export function live(place, draw) {
  shown = { place, draw };
}

on("happened", soon);
for (const end of ["click", "focusout"]) document.addEventListener(end, () => late && soon());
// a button that opens a menu is lifted there, and the page is not told
document.addEventListener("pointerdown", ({ button, ctrlKey }) => { held ||= button === 0 && !ctrlKey; }, true);
for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, () => { held = false; if (late) soon(); }, true);

function soon() {
  due ||= setTimeout(() => { due = 0; again(); }, PAUSE);
}

async function again() {
  const one = shown;
  late = Boolean(one?.place.isConnected && busy(one.place));
  if (!one?.place.isConnected || late) return;
  const focused = one.place.contains(document.activeElement) ? name(document.activeElement) : "";
  await one.draw(() => shown?.place === one.place && !(late = busy(one.place))).catch(() => undefined); // what was shown stays
  if (!focused || one.place.contains(document.activeElement)) return;
  /** @type {HTMLElement[]} */ ([...one.place.querySelectorAll("a, button, summary")]).find((node) => name(node) === focused)?.focus({ preventScroll: true });
}

/** Whether somebody is asked, writes or is about to, or has something under way there. */
function busy(place) {
  if (held) return true;
  if (document.activeElement?.matches("input, textarea") && place.contains(document.activeElement)) return true;
  const writes = /** @type {HTMLInputElement[]} */ ([...place.querySelectorAll("input, textarea")]).some((field) => field.value);
  return writes || place.querySelector("button:disabled, .row-foot .danger:not([aria-label]), .shown-place > *, details[open]") !== null;
}

const name = (node) => node.getAttribute("aria-label") ?? node.getAttribute("href") ?? node.textContent;
