/* What is a kind's own on the cards that are asked seldom: checkboxes of a batch, the draft, the field
   for a secret ... Each gives what `extras.js` says. */

import { getBlob, postJson } from "./api.js";
import { Misfit, problemPlace, trying } from "./asking.js";
import { button, fill, h, toast } from "./dom.js";
import { facts, plain } from "./extras.js";
import { anomalyOf, harmless, itemsOf, kindOf, wordOf } from "./kinds.js";
import { answer } from "./socket.js";
import { atTime, countdown, dayOf, left } from "./time.js";
import { t } from "./words.js";

export const RARE = {
  checkpoint: (event) => ({
    node: event.message === event.card.rationale ? null : h("p", { class: "said", dir: "auto" }, event.message),
  }),
  batch_review: batch,
  draft_review: draft,
  decision: (event, view) => {
    const own = ownWords(event, event.allow_freetext, view);
    const question = event.question === event.card.intent ? null : h("p", { class: "said", dir: "auto" }, event.question);
    return { ...own, node: [question, own.node], until: event.allow_freetext && unanswered };
  },
  suggestion: (event, view) => ownWords(event, false, view),
  autonomy_threshold_review: threshold,
  secure_input_request: secret,
  connection_setup_step: setup,
  permission_escalation: (event) => ({
    tight: true,
    node: facts([
      [t("Connection"), event.connection_name],
      [t("Has now"), event.current_permissions.join(", ") || "nothing"],
      [t("Asks for"), event.requested_permissions.join(", ")],
    ]),
  }),
  connection_failure: (event) => ({
    node: event.message === event.card.rationale ? null : h("p", { class: "said", dir: "auto" }, event.message),
  }),
};

/** Work that asks and gets no answer takes none of the options for granted. */
function unanswered(ms) {
  return ms <= 0 ? t("The time is over: nothing was chosen.")
    : t("Waits {left} more; then nothing is chosen, and the work goes on or ends without an answer.", { left: left(ms) });
}

/**
 * A batch. Its items can be chosen one by one where the card offers that; what stands out is told in
 * words and starts unchosen (spec 0.5.4).
 */
function batch(event, view) {
  const items = itemsOf(event);
  const odd = new Map(items.map((item) => [String(item.item_id), anomalyOf(event, item)]));
  const strange = [...odd.values()].filter(Boolean).length;
  const editable = event.card.actions.some((action) => wordOf(action.value) === "edit_selection");
  const chosen = new Set(items.map((item) => String(item.item_id)).filter((id) => !editable || !odd.get(id)));
  const count = h("p", { class: "batch-count", role: "status" });
  const every = button("", () => {
    const on = chosen.size < items.length;
    for (const box of list.querySelectorAll("input")) if (box.checked !== on) box.click();
  }, { class: "secondary small-button", "data-testid": "choose-all" });
  const tell = () => {
    fill(every, chosen.size < items.length ? t("Choose all") : t("Choose none"));
    fill(count, ...counted());
  };
  const counted = () => [
    h("b", {}, editable ? t("{size} of {items} chosen", { size: chosen.size, items: items.length }) : t("{items} items", { items: items.length })),
    strange ? editable && strangeOnesOut() ? t(" · {strange} out of the ordinary, left out until you choose them", { strange }) : t(" · {strange} out of the ordinary", { strange }) : ""];
  const strangeOnesOut = () => [...odd].some(([id, why]) => why && !chosen.has(id));
  const toggle = (id, on) => {
    if (on) chosen.add(id);
    else chosen.delete(id);
    tell();
    view.changed();
  };
  const list = h("ul", { class: "batch" }, items.map((item, at) => [
    item.group && item.group !== items[at - 1]?.group && h("li", { class: "batch-count", dir: "auto" }, h("b", {}, item.group)),
    batchRow(item, odd, editable && chosen, toggle)]));
  const answered = new AbortController();
  showPictures(event, items, list, answered.signal);
  tell();
  return {
    node: count,
    tight: true,
    details: [{ heading: t("Items"), hint: String(items.length), node: h("div", {}, editable && items.length > 1 && every, list), open: true }],
    covered: new Set(items.map((item) => item.group)),
    actions: () => batchActions(event, chosen.size === items.length),
    gather: () => {
      answered.abort();
      return { selected: items.map((item) => String(item.item_id)).filter((id) => chosen.has(id)) };
    },
    ready: () => {
      if (!chosen.size) toast(t("Choose at least one, or decline."));
      return chosen.size > 0;
    },
    labelOf: (action) => countedLabel(event, action, chosen.size, items.length),
  };
}

function batchRow(item, odd, chosen, toggle) {
  const id = String(item.item_id);
  const box = chosen && h("input", { type: "checkbox", checked: chosen.has(id), onchange: () => toggle(id, box.checked) });
  const when = item.occurred_at && `${dayOf(item.occurred_at)} ${atTime(item.occurred_at)}`;
  const about = [item.actor, when, item.reason].filter(Boolean).join(" · ");
  return h("li", { class: odd.get(id) ? "odd" : null }, h(box ? "label" : "div", { class: "batch-row" }, box || null,
    h("span", { class: "batch-text" },
      h("span", { class: "batch-title", dir: "auto" }, item.title ?? id),
      about && h("span", { class: "batch-facts", dir: "auto" }, about),
      odd.get(id) && h("span", { class: "batch-odd" }, odd.get(id)))));
}

/** Small pictures beside their files, one after the other; where there is none its name says enough.
    None is asked for once the card is answered or gone: the server shows those of open cards alone. */
async function showPictures(event, items, list, answered) {
  const places = list.querySelectorAll(".batch-text");
  await null; // until the card is on its page
  for (const [at, item] of items.entries()) {
    if (!item.picture) continue;
    if (answered.aborted || !list.isConnected) return;
    try {
      const made = await getBlob(`/batches/${encodeURIComponent(event.batch.batch_id)}/files/${at + 1}/picture`, answered);
      places[at].before(h("img", { src: URL.createObjectURL(made), alt: "", class: "batch-picture", "data-testid": "batch-picture" }));
    } catch { /* the card is closed, or it is no picture after all */ }
  }
}

/** All of them or the chosen ones: what stands on the button is what would be sent. */
function batchActions(event, whole) {
  const editing = event.card.actions.find((action) => wordOf(action.value) === "edit_selection");
  if (!editing) return event.card.actions;
  const others = event.card.actions.filter((action) => action !== editing);
  return others.map((action) =>
    wordOf(action.value) === "approve" ? { ...(whole ? action : editing), role: "recommended" } : action);
}

/** How many of them: `Archive the chosen ones: 8 of 10`. */
function countedLabel(event, action, chosen, all) {
  if (harmless(event, action) || wordOf(action.value) === "approve") return action.label;
  return t("{label}: {chosen} of {all}", { label: action.label, chosen, all });
}

/** A draft, in a field of its own: changing it there is the answer `edit`, where that is offered. */
function draft(event, view) {
  const offers = (word) => event.card.actions.some((action) => wordOf(action.value) === word);
  const editable = offers("edit");
  const text = h("textarea", {
    class: "draft", "aria-label": editable ? t("The draft; you can change it") : t("The draft"), value: event.draft,
    rows: "4", dir: "auto", spellcheck: "true", readonly: !editable, oninput: () => view.changed(),
  });
  const about = Object.entries(event.metadata ?? {}).filter(([, v]) => typeof v !== "object");
  const context = event.context === event.card.rationale ? "" : event.context;
  return {
    tight: true,
    node: text,
    details: [
      context && { heading: t("What it answers"), node: h("p", { class: "kept", dir: "auto" }, context) },
      about.length && { heading: t("About this draft"), node: facts(about.map(([n, v]) => [plain(n), String(v)])) },
    ].filter(Boolean),
    actions: () => event.card.actions.filter((action) => wordOf(action.value) !== "edit" || !offers("approve")),
    gather: () => ({ edited: text.value }),
    ready: () => {
      if (!text.value.trim()) toast(t("The draft is empty. Write something, or drop it."));
      return Boolean(text.value.trim());
    },
    labelOf: (action) => {
      const sends = ["approve", "edit"].includes(wordOf(action.value));
      return sends && text.value !== event.draft ? t("{label}, as you changed it", { label: action.label }) : action.label;
    },
  };
}

/** A field for an answer in own words: with an option they go along, without one they are it. */
function ownWords(event, allowed, view) {
  if (!allowed) return { gather: () => ({}) };
  const id = `words-${event.request_id}`;
  const known = WORDS.get(event.request_id) ??
    h("input", { id, type: "text", class: "own-words", maxlength: "2000", autocomplete: "off", dir: "auto" });
  WORDS.set(event.request_id, known);
  known.oninput = () => view.changed();
  return {
    node: h("div", { class: "field" }, h("label", { for: id }, t("In your own words, if you like")), known),
    gather: () => ({ freetext: known.value }),
    actions: () => known.value.trim() ? [...event.card.actions.filter((one) => one.role !== "decline"), IN_OWN_WORDS,
      ...event.card.actions.filter((one) => one.role === "decline")] : event.card.actions,
  };
}
const IN_OWN_WORDS = { label: t("Answer in these words"), value: null, role: "alternative" };
const WORDS = new Map(); // a card's field outlives a redraw

function threshold(event) {
  const { changes = [], sample_size: size, correction_rate: rate, evidence_window: window_ } = event.proposal;
  const rows = changes.map((change) => h("li", {},
    h("span", { class: "change-name" }, plain(change.key)),
    h("span", { class: "change" }, h("s", {}, String(change.current_value)), " ", h("span", { class: "along" }, "→"), " ",
      h("b", {}, String(change.proposed_value)),
      h("span", { class: "change-way" }, change.direction === "widen" ? t(" (asks less)") : t(" (asks more)")))));
  const corrected = rate === undefined ? null : t("{rate} % of {size} had to be put right", { rate: (Number(rate) * 100).toFixed(1), size });
  return {
    tight: true,
    node: rows.length ? h("ul", { class: "changes" }, rows) : null,
    details: corrected || window_ ? [{ heading: t("What this rests on"), node: facts([[t("Corrections"), corrected], [t("Over"), window_]]) }] : [],
  };
}

function secret(event) {
  const id = `secret-${event.request_id}`;
  const field = h("input", {
    id, type: "password", class: "secret", autocomplete: "off", spellcheck: "false",
    placeholder: event.input_hint ?? "", "data-testid": "secret-field",
  });
  const problem = problemPlace();
  const form = h("form", { class: "field", onsubmit: (e) => { e.preventDefault(); trying([], problem, store, field); } },
    h("label", { for: id }, event.label), field, problem,
    h("p", { class: "small" }, t("Goes straight to this computer's key store, never to a conversation or a model.")));
  const guidance = event.guidance ?? {};
  const told = guidance.instructions === event.card.rationale ? "" : guidance.instructions;
  const help = [told, guidance.help_url && t("See: {help_url}", { help_url: guidance.help_url })].filter(Boolean);

  async function store() {
    if (!field.value) throw new Misfit(field, t("Paste the secret first."));
    try {
      await postJson(`/secrets/${encodeURIComponent(event.ref_id)}`, { value: field.value });
    } finally {
      field.value = "";
    }
    answer(event, kindOf(event).answer(event, null, { stored: true }), t("Stored"));
  }
  return {
    tight: true,
    node: form,
    details: help.length ? [{ heading: t("Where to find it"), node: h("p", { dir: "auto" }, help.join("\n")) }] : [],
    gestureFor: () => "tap",
    send: (action) => action.role !== "decline" && (store(), true),
  };
}

function setup(event) {
  return STEPS[event.step_type]?.(event) ?? { node: facts(Object.entries(event.step).map(([n, v]) => [plain(n), String(v)])) };
}

const STEPS = {
  device_code(event) {
    const step = event.step;
    const time = h("span", { class: "small" });
    const code = h("code", { class: "user-code", "data-testid": "user-code" }, step.user_code);
    const copy = copyButton(step.user_code, t("The code is copied."));
    const place = h("div", { class: "code-step" },
      h("div", { class: "code-row" }, code, copy),
      h("p", {}, t("Enter it at "), h("b", { class: "address" }, step.verification_url)), time);
    const until = new Date(event.asked_at).getTime() + Number(step.expires_in ?? 0) * 1000;
    countdown(place, until, (ms) => {
      time.textContent = ms > 0 ? t("The code is good for {left} more.", { left: left(ms) }) : t("This code has run out; ask for another.");
    });
    return { node: place, tight: true };
  },
  browser_redirect: (event) => ({
    node: h("div", { class: "code-step" },
      h("p", {}, t("Sign in at "), h("b", { class: "address" }, event.step.auth_url), copyButton(event.step.auth_url, t("The address is copied."))),
      h("p", { class: "small" }, t("Silas listens for the answer at {listening_on}, on this computer only.", { listening_on: event.step.listening_on }))),
  }),
  progress(event) {
    const share = event.step.progress_pct === null || event.step.progress_pct === undefined
      ? null : Number(event.step.progress_pct);
    const part = share !== null && share <= 1 ? share * 100 : share;
    return {
      node: h("div", { class: "code-step", role: "status" }, h("p", {}, event.step.message),
        h("progress", { max: "100", value: part ?? undefined, "aria-label": t("Progress") })),
    };
  },
  completion: (event) => ({
    node: facts([
      [t("Result"), event.step.success ? t("Connected") : t("Not connected")],
      [t("Found"), event.step.summary],
      [t("May"), (event.step.permissions_granted ?? []).join(", ")],
    ]),
  }),
  failure: (event) => ({
    node: h("p", { class: "said", dir: "auto" }, event.step.failure?.message ?? event.step.message ?? ""),
  }),
};

function copyButton(text, words) {
  return button(t("Copy"), async () => {
    await navigator.clipboard?.writeText(text).catch(() => undefined);
    toast(words);
  }, { class: "quiet" });
}

