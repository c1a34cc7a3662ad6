/* What is a kind's own on a card: the facts of a plan, a gate, a call. Each gives
   {node, details, gather(), ready(action), labelOf(action), send(action)}, all optional. The other
   kinds are in `extras_rare.js`, which is fetched when the first of them is asked. */

import { h, toast } from "./dom.js";
import { kindOf, wordOf } from "./kinds.js";
import { answer, say } from "./socket.js";
import { t } from "./words.js";

/** @type {any} */
let rare = null;

export function extraFor(event, view) {
  return (EXTRAS[event.type] ?? rare?.RARE[event.type])?.(event, view) ?? {};
}

/** The fetching of what a card of this kind needs besides; null where it is there. */
export function missing(event) {
  if (event.type in EXTRAS || rare) return null;
  return import("./extras_rare.js").then((module) => { rare = module; });
}

const EXTRAS = {
  approval_request: plan,
  gate_approval: (event) => ({
    kind: plain(event.gate_name),
    tight: true,
    node: facts([
      [t("Found"), event.value === null ? null : String(event.value)],
      [t("Because"), event.context === event.card.rationale ? "" : event.context],
    ]),
  }),
  tool_call: (event) => ({
    node: facts([[t("Tool"), event.tool_name], [t("Asked by"), event.asked_by]]),
  }),
  held_changes: () => ({}),
};

/** A plan. Who wants it changed says how in a field of the card; the words go out as a message of his own. */
function plan(event) {
  const id = `changes-${event.request_id}`;
  const field = h("textarea", { id, class: "draft", rows: "3", maxlength: "4000", dir: "auto", "data-testid": "changes" });
  const wanted = event.card.actions.find((action) => wordOf(action.value) === "edit_requested");
  const form = h("form", { class: "field", hidden: true, onsubmit: (pressed) => {
    pressed.preventDefault();
    const words = field.value.trim();
    if (!words) toast(t("Say what should be different."));
    else answer(event, kindOf(event).answer(event, wanted), wanted.label, say(words, event.request_id));
  } },
  h("label", { for: id }, t("What should be different?")), field,
  h("button", { type: "submit", class: "secondary", "data-testid": "send-changes" }, t("Send these changes")));
  return {
    node: form,
    send(action) {
      if (action.value !== wanted?.value) return false;
      form.hidden = false;
      field.focus();
      return true;
    },
  };
}

export function facts(pairs) {
  const known = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  if (!known.length) return null;
  return h("dl", { class: "facts" }, known.map(([name, value]) =>
    h("div", {}, h("dt", {}, name), h("dd", { dir: "auto" }, value))));
}

export function plain(name) {
  const words = String(name).replace(/[._]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
