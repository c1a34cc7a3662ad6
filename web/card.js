/* One card: what it does, how risky, why, what it affects, what can be answered, and the details.
   The anatomy is the same for every kind (spec 0.5.3); `extras.js` has what is a kind's own. */

import { button, fill, h, icon, named } from "./dom.js";
import { extraFor } from "./extras.js";
import { actionArea } from "./gestures.js";
import { gestureFor, harmless, kindOf, riskOf, RISK_WORDS, startsOpen } from "./kinds.js";
import { answer } from "./socket.js";
import { sealOf, state } from "./state.js";
import { countdown, left } from "./time.js";
import { t } from "./words.js";

const LONG = { intent: 84, effect: 170, rationale: 110, affected: 80 }; // characters that surely fit a phone's card
const TWO_LINES = 54; // an intent beyond that takes a third line, and the reason gives one up

/**
 * Build the card; gives its node, `refresh()` for when the state changed, and `focus()`.
 * @param {any} [stay] why the card is shown though its question is closed; then nothing can be answered
 */
export function cardView(event, stay = null) {
  const face = event.card;
  const risk = riskOf(event);
  const extra = extraFor(event, { changed: () => area.isArmed() || area.show() });
  const title = h("h2", { id: `card-${event.request_id}`, tabindex: "-1", class: "intent", dir: "auto" },
    face.intent);
  const note = h("div", { class: "card-note", role: "status" });
  const details = detailsOf(event, extra);
  const area = actionArea(() => choicesOf(event, extra, note), { onarm: () => kindOf(event).atHand && openAll(details) });
  const until = h("p", { class: "until" });
  const node = h("article", {
    class: "card", "aria-labelledby": title.id, "data-risk": risk, "data-kind": event.type,
    "data-testid": "active-card", "data-request": event.request_id,
  },
  h("div", { class: face.effect || face.intent.length > TWO_LINES || extra.tight ? "card-body tight" : "card-body", "data-testid": "card-body" },
    h("p", { class: "card-top" }, event.type === "secure_input_request" ? icon("key") : riskBadge(risk), h("span", { class: "kind" }, extra.kind ?? kindOf(event).name)),
    title,
    face.effect && h("p", { class: "effect", "data-testid": "effect", dir: "auto" }, named(face.effect)),
    h("p", { class: "rationale", dir: "auto" }, named(face.rationale)),
    face.affected && h("p", { class: "affected", dir: "auto" },
      h("span", { class: "label" }, t("Affects ")), named(face.affected)),
    extra.node),
  details,
  h("div", { class: "card-foot" }, note, area.node, until));
  if (stay) return closedView(event, stay, { node, note, title, area, until });
  if (event.type !== "secure_input_request") {
    countdown(node, event.expires_at, (ms) => {
      const plan = event.type === "approval_request"; // it can be shown again
      if (extra.until) until.textContent = extra.until(ms);
      else if (ms <= 0) until.textContent = plan ? t("The time is over: nothing was run.") : t("The time is over: the answer was no.");
      else until.textContent = plan ? t("Waits {left} more; then it lapses, and nothing is run.", { left: left(ms) })
        : t("Waits {left} more; then the answer is no.", { left: left(ms) });
    });
  }
  let could = null;
  const refresh = () => {
    refreshNote(event, note, node);
    const can = `${state.level} ${sealOf(event)}`;
    if (can !== could && !area.isArmed()) area.show();
    could = can;
  };
  refresh();
  return { node, refresh, focus: () => title.focus({ preventScroll: true }) };
}

/** A card whose question is closed; `closed.js` has its reason and a way to ask anew. */
function closedView(event, stay, { node, note, title, area, until }) {
  area.node.remove();
  until.remove();
  node.classList.add("stays");
  node.dataset.stays = stay.why;
  for (const form of node.querySelectorAll("form")) form.remove();
  import("./closed.js").then(({ fillClosed }) => fillClosed(event, stay.why, note), () => undefined);
  return { node, refresh: () => undefined, focus: () => title.focus({ preventScroll: true }) };
}

export function riskBadge(risk, short = false) {
  const [words, gesture] = RISK_WORDS[risk];
  return h("span", { class: "risk", "data-risk": risk },
    h("span", { class: "risk-mark", "aria-hidden": "true" }),
    h("b", {}, words), short ? null : h("span", { class: "risk-how" }, ` · ${gesture}`));
}

/** The buttons as they are now: what is chosen on the card can change their words. */
function choicesOf(event, extra, note) {
  const actions = extra.actions?.() ?? event.card.actions;
  return actions.map((action) => {
    const why = whyNot(event, action);
    return {
      label: extra.labelOf?.(action) ?? action.label,
      role: action.role,
      gesture: extra.gestureFor?.(action) ?? gestureFor(event, action),
      ready: () => (harmless(event, action) ? true : extra.ready?.(action) ?? true),
      blocked: why ? () => fill(note, warning(why)) : null,
      send: () => send(event, action, extra),
    };
  });
}

function send(event, action, extra) {
  if (extra.send?.(action)) return;
  const frame = kindOf(event).answer(event, action, extra.gather?.() ?? {});
  answer(event, frame, extra.labelOf?.(action) ?? action.label);
}

/** Why this device cannot give this answer now; empty where it can. */
function whyNot(event, action) {
  if (harmless(event, action) && action.role === "decline") return "";
  if (sealOf(event) === false) {
    return t("This card is not what was sealed when it was sent, so nothing is signed. You can only say no.");
  }
  if (event.type === "secure_input_request") return "";
  if (state.level !== "owner") {
    return t("This browser has no key of its own, so it can only say no. ") +
      t("Say yes on a device that has one, or in a terminal.");
  }
  return "";
}

function refreshNote(event, note, node) {
  const given = state.answers.get(event.request_id);
  node.classList.toggle("answered", Boolean(given) && given.state !== "refused");
  node.querySelector(".actions").inert = Boolean(given) && given.state !== "refused";
  if (given?.state === "refused") fill(note, warning(given.words));
  else if (given) {
    const words = state.link === "open" ? `${given.label} …` : t("{label}: sent as soon as there is a connection.", { label: given.label });
    fill(note, h("p", { class: "sent" }, icon("check"), words));
  } else if (sealOf(event) === false) fill(note, warning(whyNot(event, { role: "recommended", value: null })));
  else if (!note.firstChild && state.level !== "owner" && event.type !== "secure_input_request") {
    fill(note, warning(whyNot(event, { role: "recommended", value: null })));
  }
}

export function warning(words) {
  return h("p", { class: "warning" }, icon("alert"), h("span", {}, words));
}

/** Last comes what was cut short above. */
function detailsOf(event, extra) {
  const face = event.card;
  const open = startsOpen(event);
  const long = Object.keys(LONG).filter((name) => (face[name] ?? "").length > LONG[name]);
  const parts = [
    ...(extra.details ?? []),
    ...face.details.map((part) => ({ heading: part.heading, node: linesOf(part.lines), open: part.open && !extra.covered?.has(part.heading) })), // the items say the same
  ];
  if (long.length) {
    parts.unshift({ heading: t("In full"), node: linesOf(long.map((name) => face[name])) });
  }
  return h("div", { class: "details", "data-testid": "details" }, parts.map((part) =>
    h("details", { open: open || part.open },
      h("summary", {}, h("span", {}, part.heading), part.hint && h("span", { class: "hint" }, part.hint)),
      part.node)));
}

function openAll(details) {
  for (const part of details.querySelectorAll("details")) part.open = true;
}

/** What stands behind `| ` is somebody's own text and is drawn as one block. */
export function linesOf(lines) {
  const place = h("div", { class: "lines" });
  let block = null;
  for (const line of lines) {
    const quoted = /^( *)\| ?(.*)$/s.exec(line);
    if (quoted) {
      block ??= place.appendChild(h("pre", { class: "quoted", tabindex: "0" }));
      block.append(h("span", {}, `${quoted[2]}\n`));
      continue;
    }
    block = null;
    place.append(h("p", { class: line.startsWith("  ") ? "more" : null, dir: "auto" }, named(line.trim())));
  }
  return place;
}

export function upNext(event, number, onclick) {
  const row = button("", onclick, { class: "next-row", "data-testid": "up-next" });
  row.append(
    h("span", { class: "next-number", "aria-hidden": "true" }, String(number)),
    h("span", { class: "next-intent", dir: "auto" }, event.card.intent),
    riskBadge(riskOf(event), true));
  return h("li", {}, row);
}
