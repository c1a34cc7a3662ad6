/* The kinds of cards: what each is called, which answers let nothing happen, and the frame that an
   answer makes. Every field of the frame is there, defaults too: that is what a device signs. */

import { t } from "./words.js";

/** The word that an action stands for, however its value is wrapped. */
export function wordOf(value) {
  if (value === null || typeof value !== "object") return value === null ? null : String(value);
  return value.verdict ?? value.selected_value ?? value.action ?? value.selected_action ?? null;
}

const verdict = (type) => (event, action) =>
  ({ type, request_id: event.request_id, verdict: wordOf(action.value) });

const choice = (type) => (event, action, extra) => ({
  type,
  request_id: event.request_id,
  selected_value: action ? wordOf(action.value) : null,
  freetext: action?.role === "decline" ? null : extra.freetext?.trim() || null,
});

export const KINDS = {
  approval_request: {
    name: t("Plan"), harmless: ["declined", "edit_requested"], atHand: true,
    answer: verdict("approval_response"),
  },
  gate_approval: { name: t("Gate"), harmless: ["block"], answer: verdict("gate_response") },
  tool_call: {
    name: t("One call"), harmless: ["decline"], atHand: true, answer: verdict("tool_call_response"),
  },
  held_changes: {
    name: t("Changes that wait"), harmless: ["keep"], atHand: true, answer: verdict("held_response"),
  },
  checkpoint: { name: t("Checkpoint"), harmless: [], answer: verdict("checkpoint") },
  batch_review: {
    name: t("Several at once"), harmless: ["decline"], atHand: true,
    answer(event, action, extra) {
      const word = wordOf(action.value);
      const all = itemsOf(event).map((item) => String(item.item_id));
      const chosen = extra.selected ?? all;
      return {
        type: "batch_review_response", request_id: event.request_id, verdict: word,
        selected_item_ids: word === "edit_selection" ? chosen : [],
      };
    },
  },
  draft_review: {
    name: t("Draft"), harmless: ["reject", "rephrase"],
    answer(event, action, extra) {
      const edited = extra.edited !== undefined && extra.edited !== event.draft;
      const word = wordOf(action.value);
      const sends = word === "approve" || word === "edit";
      return {
        type: "draft_review_response", request_id: event.request_id,
        verdict: sends ? (edited ? "edit" : "approve") : word,
        edited_text: sends && edited ? extra.edited : null,
      };
    },
  },
  decision: { name: t("Decision"), harmless: [], answer: choice("decision_response") },
  suggestion: { name: t("Suggestion"), harmless: [], answer: choice("suggestion_response") },
  autonomy_threshold_review: {
    name: t("New limit"), harmless: ["decline"],
    answer: verdict("autonomy_threshold_response"),
  },
  secure_input_request: {
    name: t("Secret"), harmless: ["cancel"],
    answer: (event, _action, extra) =>
      ({ type: "secure_input_completed", ref_id: event.ref_id, success: extra.stored === true }),
  },
  connection_setup_step: {
    name: t("Connection"), harmless: ["cancel", "trouble", "retry"],
    answer: (event, action) => ({
      type: "connection_setup_response", request_id: event.request_id,
      step_type: event.step_type, action: wordOf(action.value),
    }),
  },
  permission_escalation: {
    name: t("Permission"), harmless: ["deny"], answer: verdict("permission_escalation_response"),
  },
  connection_failure: {
    name: t("Connection"), harmless: ["skip"],
    answer: (event, action) => ({
      type: "connection_failure_response", request_id: event.request_id,
      selected_action: wordOf(action.value),
    }),
  },
};

export const kindOf = (event) => KINDS[event.type];

/** Whether an answer lets nothing happen, so that one tap is enough and no key is needed. */
export function harmless(event, action) {
  return action?.role === "decline" || kindOf(event).harmless.includes(wordOf(action?.value ?? null));
}

export const RISKS = ["low", "medium", "high", "irreversible"];

/** The card's risk; where an event has one of its own, the graver of the two. */
export function riskOf(event) {
  const both = [event.card.risk_level, event.risk_level ?? "low"];
  return RISKS[Math.max(...both.map((risk) => {
    const at = RISKS.indexOf(risk);
    return at < 0 ? RISKS.length - 1 : at;
  }))];
}

export const RISK_WORDS = {
  low: [t("Low risk"), t("easily put right")],
  medium: [t("Medium risk"), t("asks twice")],
  high: [t("High risk"), t("slide to confirm")],
  irreversible: [t("Cannot be undone"), t("slide to confirm")],
};

/** What has to be done for an answer: `tap`, `chip`, `slide` or `slide+auth` (spec 0.5.2). */
export function gestureFor(event, action) {
  if (harmless(event, action)) return "tap";
  return { low: "tap", medium: "chip", high: "slide", irreversible: "slide+auth" }[riskOf(event)];
}

/** Whether details start open (spec 0.5.3). */
export const startsOpen = (event) => RISKS.indexOf(riskOf(event)) >= RISKS.indexOf("high");

export const itemsOf = (event) => event.batch?.items ?? [];

const SURE = 0.8; // the least confidence of an item that is like the others, if the batch names none

/** Why an item of a batch is out of the ordinary, in words; empty where it is not (spec 0.5.4). */
export function anomalyOf(event, item) {
  if (item.unusual) return typeof item.unusual === "string" ? item.unusual : t("Not like the others");
  const least = Number(event.batch.confidence_high_min ?? SURE);
  return item.confidence !== undefined && Number(item.confidence) < least
    ? t("Silas is only {item} % sure of this one", { item: Math.round(Number(item.confidence) * 100) }) : "";
}
