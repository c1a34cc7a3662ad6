/* The Review surface: one card at a time, and beneath it what comes next. */

import { cardView, upNext } from "./card.js";
import { missing } from "./extras.js";
import { announce, fill, h, icon, keyed, toast } from "./dom.js";
import { weighty, state, on } from "./state.js";
import { postJson } from "./api.js";
import { button, skeleton } from "./dom.js";
import { t } from "./words.js";

let shown = null; // {id, view} of the card on the table
let wanted = null; // the request that the owner took out of its turn

export function mountReview(root) {
  const heading = h("h1", { class: "surface-title", tabindex: "-1" }, t("Review"));
  const cue = h("div", { class: "cue-place", role: "status" });
  const table = h("div", { class: "table" });
  const next = h("section", { class: "next", "aria-label": t("Up next"), hidden: true });
  const waiting = h("section", { class: "waiting", "aria-label": t("Plans that wait"), hidden: true });
  root.append(heading, cue, table, next, waiting);
  const draw = () => {
    drawCue(cue);
    drawTable(table, heading, draw);
    drawNext(next, draw);
    drawWaiting(waiting);
  };
  on("cards link all running", draw);
  on("frame:plans_waiting", () => {
    if (state.waiting.length) announce(t("Plans that wait in Review: {waiting}", { waiting: state.waiting.length }));
  });
  on("frame:card_closed", () => {
    const { outcome, words, mine } = state.closed;
    if (outcome === "answered") toast(mine ? t("Answered: {words}", { words }) : t("Answered elsewhere: {words}", { words }));
    else toast(words);
  });
  draw();
}

const active = () => state.cards.find((card) => card.request_id === wanted) ?? state.cards[0] ?? null;

/** What stays in view where no question is open: the plan that is being changed, or lapsed last. */
const staying = () => (active() ? null : state.stays.at(-1) ?? null);

function drawTable(table, heading, draw) {
  const stay = staying();
  const event = active() ?? stay?.event;
  if (!event) {
    const words = !state.arrived ? "coming" : state.waiting.length ? "plans" : state.running.size ? "working" : "quiet";
    if (table.dataset.empty !== words) {
      const had = table.contains(document.activeElement);
      fill(table, empty());
      if (had) heading.focus({ preventScroll: true });
    }
    table.dataset.empty = words;
    shown = null;
    return;
  }
  if (shown?.id === event.request_id && shown.digest === event.digest && shown.why === stay?.why) {
    shown.view.refresh();
    return;
  }
  const more = missing(event);
  if (more) {
    more.then(draw, () => toast(t("This question cannot be drawn just now; reload the page.")));
    return;
  }
  delete table.dataset.empty;
  const first = shown === null;
  const had = table.contains(document.activeElement);
  const view = cardView(event, stay);
  shown = { id: event.request_id, digest: event.digest, view, why: stay?.why };
  fill(table, view.node);
  table.closest("main, section")?.scrollTo?.({ top: 0 });
  if (had || (!first && isHere())) view.focus();
  else if (!stay) announce(t("A question waits in Review: {intent}", { intent: event.card.intent }));
}

/** Focus follows a new card only when nobody is writing and Review is what is looked at. */
function isHere() {
  const focused = document.activeElement;
  return (!focused || focused === document.body) && document.body.dataset.view === "review";
}

function drawNext(place, draw) {
  const current = active();
  const others = state.cards.filter((card) => card !== current);
  place.hidden = !others.length;
  if (!others.length) return;
  fill(place, h("h2", { class: "label-title" }, t("Up next")),
    h("ol", { class: "next-list" }, others.map((card, n) =>
      upNext(card, n + 2, () => {
        wanted = card.request_id;
        draw();
        shown?.view.focus();
      }))));
}

function drawCue(place) {
  const many = weighty(state.cards) > 5;
  const words = state.cue?.words ?? (many
    ? t("{cards} questions wait. Take your time: nothing happens until you answer.", { cards: state.cards.length }) : "");
  if ((place.dataset.words ?? "") === words) return;
  place.dataset.words = words;
  fill(place, words && h("div", { class: "cue" }, icon("alert"), h("p", {}, words)));
}

function drawWaiting(place) {
  const onTable = staying()?.event.work_item_id;
  const rows = state.waiting.filter((one) => one.work_item_id !== onTable)
    .map((one) => ({ ...one, why: state.stays.find(({ event }) => event.work_item_id === one.work_item_id)?.why ?? (one.changes_wanted ? "changing" : "") }));
  place.hidden = !rows.length;
  if (place.hidden) return;
  if (!place.firstChild) place.append(h("h2", { class: "label-title" }, t("What waits for you")), h("ul", { class: "rows" }));
  keyed(place.lastChild, rows, (one) => `${one.work_item_id} ${one.why}`, (one) => h("li", { class: "row" },
    h("span", { class: "row-text", dir: "auto" }, one.title,
      one.why && h("span", { class: "small block" }, one.why === "lapsed" ? t("Lapsed; nothing was run") : t("You asked for changes"))),
    button(one.why ? t("Show again") : t("Show"), async () => {
      try {
        await postJson(`/work/${encodeURIComponent(one.work_item_id)}/ask`);
      } catch (error) {
        toast(error.message);
      }
    }, { class: "secondary small-button", "aria-label": t("Show the plan {title}", { title: one.title }) })));
}

function empty() {
  if (!state.arrived) return skeleton();
  if (state.waiting.length) {
    return h("div", { class: "empty" },
      h("p", { class: "empty-title" }, t("No question is open.")),
      h("p", {}, t("Below is what waits for your word; nothing of it happens before you have seen it and said yes.")));
  }
  return h("div", { class: "empty" },
    h("p", { class: "empty-title" }, t("Nothing waits for you.")),
    state.running.size
      ? h("p", {}, t("What you approved is under way. "), h("a", { href: "#/stream" }, t("See how it goes")))
      : h("p", {}, t("When something needs your word, it comes here, one question at a time.")));
}
