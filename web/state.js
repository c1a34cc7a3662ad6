/* What this page knows. Frames change it in one place, `apply`; views listen and draw. */

import { cardDigest } from "./canonical.js";
import { t } from "./words.js";

export function emptyState() {
  return {
    level: "auth",
    device: "",
    language: "", // what Silas speaks
    link: "connecting", // connecting, open, lost, refused
    arrived: false, // whether a stream_state has come since the page was opened
    seq: 0,
    complete: true,
    transcript: [], // messages and results, by seq
    withheld: new Map(), // seq of a message or result -> what stands for what was forgotten
    attached: [], // files for the next message here: {id, name, size}, without an id while they are sent
    replaces: "", // the message that the next one takes the place of
    outgoing: [], // messages not acknowledged yet: {id, text, at}
    deltas: new Map(), // turn -> {text, conversation}: the answer as far as it has come
    conversation: "", // the one that is shown; the first one has no name
    conversations: [], // all of them, the one that was last said something in first
    loading: false,
    unread: new Set(), // conversations with something that was not shown yet
    askedIn: new Map(), // request -> the conversation that it belongs to
    answering: new Map(), // messages that nothing was said to yet, the oldest first -> their conversation
    thinking: false, // something was asked and nothing has come back yet
    passing: new Map(), // conversation -> what Silas does or waits for in it now
    cards: [], // open questions, the oldest first
    stays: [], // plans that stay in view though nobody can approve them: {event, why: lapsed|changing, wish}
    sealed: new Map(), // request -> true where the digest fits what is shown, else false
    answers: new Map(), // request -> {label, state: sending|sent|refused, words}
    running: new Map(), // work item -> its newest progress
    waiting: [],
    stopped: "",
    changed: "",
    head: "",
    runbook: false,
    onboarding: false,
    cue: null,
    newcomer: "", // who came in last
    closed: null, // the question that was closed last, and whether from here
  };
}

export const state = emptyState();
const listeners = new Map();

export function on(topics, listener) {
  for (const topic of topics.split(" ")) {
    if (!listeners.has(topic)) listeners.set(topic, new Set());
    listeners.get(topic).add(listener);
  }
}

export function emit(...topics) {
  const once = new Set(topics.flatMap((topic) => [...(listeners.get(topic) ?? [])]));
  for (const listener of once) listener();
}

const QUESTIONS = new Set([
  "approval_request", "gate_approval", "tool_call", "held_changes", "checkpoint", "batch_review", "draft_review",
  "decision", "suggestion", "autonomy_threshold_review", "secure_input_request",
  "connection_setup_step", "permission_escalation", "connection_failure",
]);

/** After these nothing more comes of a piece of work but its result. */
const ENDED = new Set(["done", "failed", "stuck", "blocked", "paused", "cancelled", "healthy"]); // a goal that stands does not run

export const isQuestion = (frame) => QUESTIONS.has(frame.type);

/** Take one frame into the state; gives the topics that changed. Pure but for `at` itself. */
export function apply(at, frame) {
  if (isQuestion(frame)) return question(at, frame);
  return HANDLERS[frame.type]?.(at, frame) ?? [];
}

const HANDLERS = {
  stream_state(at, frame) {
    for (const name of ["level", "device", "language", "stopped", "runbook", "onboarding"]) at[name] = frame[name];
    at.changed = frame.changed ?? "";
    at.head = frame.head ?? "";
    const told = frame.conversation ?? "";
    if (!frame.complete || !at.arrived || told !== at.conversation) {
      at.transcript = [];
      at.withheld = new Map();
      at.complete = frame.complete;
    }
    at.arrived = true;
    at.conversation = told;
    at.loading = false;
    at.conversations = frame.conversations ?? [];
    at.askedIn = new Map(Object.entries(frame.asked_in ?? {}));
    at.deltas = new Map((frame.coming ?? []).map((one) => [one.turn_id, { text: one.text, conversation: one.conversation ?? "" }]));
    frame.transcript.forEach((kept) => keep(at, kept));
    at.seq = Math.max(at.seq, frame.seq);
    at.running = new Map(frame.running.map((one) => [one.work_item_id, one]));
    at.waiting = [...frame.waiting];
    at.cards = frame.cards.filter((card, n, all) =>
      all.findIndex((other) => other.request_id === card.request_id) === n);
    const open = new Set(at.cards.map((card) => card.request_id));
    for (const id of at.answers.keys()) if (!open.has(id)) at.answers.delete(id);
    at.stays = at.stays.filter(({ event }) => at.waiting.some((one) => one.work_item_id === event.work_item_id));
    at.answering = new Map(frame.answering.map((id) => [id, frame.answering_in?.[id] ?? ""]));
    at.thinking = thinksHere(at);
    at.passing = new Map();
    return ["all", "stream", "cards", "running", "stopped", "link", "conversations"];
  },
  models(at, frame) {
    at.runbook = frame.runbook;
    return ["stream", "models"];
  },
  message(at, frame) {
    const here = isHere(at, frame);
    if (here) keep(at, frame);
    else pass(at, frame);
    if (frame.sender === "silas") {
      at.answering.delete(frame.reply_to);
      at.passing.delete(frame.conversation ?? "");
      if (here) at.thinking = answeringHere(at).length > 0;
      else at.unread.add(frame.conversation ?? "");
      at.stays = at.stays.map((one) => one.wish === frame.reply_to && one.wish ? { ...one, why: "answered" } : one);
    }
    else if (!here) at.answering.set(frame.id, frame.conversation ?? "");
    if (frame.turn_id) at.deltas.delete(frame.turn_id);
    return ["stream", "cards", "conversations"];
  },
  message_delta(at, frame) {
    const text = (frame.begins ? "" : at.deltas.get(frame.turn_id)?.text ?? "") + frame.text;
    if (text) at.deltas.set(frame.turn_id, { text, conversation: frame.conversation ?? "" });
    else at.deltas.delete(frame.turn_id);
    if (isHere(at, frame)) at.thinking = !text;
    return ["stream"];
  },
  in_passing(at, frame) {
    at.passing.set(frame.conversation ?? "", frame.words);
    return ["stream"];
  },
  progress(at, frame) {
    if (ENDED.has(frame.status)) at.running.delete(frame.work_item_id);
    else at.running.set(frame.work_item_id, frame);
    if (isHere(at, frame)) at.thinking = false;
    return ["running"];
  },
  post_execution(at, frame) {
    if (isHere(at, frame)) keep(at, frame);
    else {
      pass(at, frame);
      at.unread.add(frame.conversation ?? "");
    }
    at.running.delete(frame.work_item_id);
    return ["stream", "running", "work", "conversations"];
  },
  withheld(at, frame) {
    for (const seq of frame.seqs) at.withheld.set(seq, frame.words);
    at.transcript = at.transcript.map((kept) => shown(at, kept));
    return ["stream"];
  },
  conversation(at, frame) {
    keepRow(at, frame.conversation);
    return frame.conversation.deleted && at.conversation === frame.conversation.id ? ["conversations", "gone"] : ["conversations"];
  },
  asked_in(at, frame) {
    at.askedIn.set(frame.request_id, frame.conversation);
    return [];
  },
  record(at, frame) {
    at.changed = frame.changed;
    if (frame.head) at.head = frame.head;
    return ["changed"];
  },
  device_paired(at, frame) {
    at.newcomer = frame.words;
    return ["devices"];
  },
  plans_waiting(at, frame) {
    at.waiting = frame.waiting.filter((one) => !at.cards.some((card) => card.work_item_id === one.work_item_id));
    at.stays = at.stays.filter(({ event, why }) =>
      why !== "answered" || at.waiting.some((one) => one.work_item_id === event.work_item_id));
    return ["cards"];
  },
  undone(at, frame) {
    at.transcript = at.transcript.map((kept) =>
      kept.type === "post_execution" && kept.work_item_id === frame.work_item_id
        ? { ...kept, undone: true } : kept);
    return ["stream", "work"];
  },
  happened() {
    return ["happened"];
  },
  card_closed(at, frame) {
    const answer = at.answers.get(frame.request_id);
    const given = answer?.state === "sent" ? answer : null; // without an ack another page was quicker
    const event = at.cards.find((card) => card.request_id === frame.request_id);
    at.closed = { ...frame, mine: Boolean(given) };
    if (event?.work_item_id && frame.outcome === "expired") at.stays = [...at.stays, { event, why: "lapsed", wish: "" }];
    if (given?.wish && frame.outcome === "answered") at.stays = [...at.stays, { event, why: "changing", wish: given.wish }];
    at.cards = at.cards.filter((card) => card.request_id !== frame.request_id);
    at.answers.delete(frame.request_id);
    at.sealed.delete(frame.request_id);
    at.askedIn.delete(frame.request_id);
    return ["cards"];
  },
  cue(at, frame) {
    at.cue = frame.kind === "none" ? null : frame;
    return ["cards"];
  },
  stopped(at, frame) {
    at.stopped = frame.words;
    if (frame.words) at.thinking = false;
    return ["stopped", "running"];
  },
  ack(at, frame) {
    const answer = at.answers.get(frame.id);
    if (answer) answer.state = "sent";
    const message = at.outgoing.find((one) => one.id === frame.id);
    if (message) {
      message.sent = true;
      at.answering.set(frame.id, message.conversation ?? "");
      if (isHere(at, message)) at.thinking = true;
    }
    return ["stream", "cards"];
  },
  error(at, frame) {
    const answer = at.answers.get(frame.id);
    const refuse = (one) => Object.assign(one, { state: "refused", words: frame.message });
    if (answer) refuse(answer);
    if (!frame.id) for (const one of at.answers.values()) if (one.state === "sending") refuse(one); // nobody will answer those
    const message = at.outgoing.find((one) => one.id === frame.id);
    if (message) message.refused = frame.message;
    at.thinking = false;
    return ["stream", "cards"];
  },
};

function question(at, frame) {
  const known = at.cards.findIndex((card) => card.request_id === frame.request_id);
  if (known >= 0) at.cards = at.cards.with(known, frame);
  else at.cards = [...at.cards, frame];
  at.waiting = at.waiting.filter((one) => one.work_item_id !== frame.work_item_id);
  const plan = frame.type === "approval_request"; // the new plan takes the place of the one to be changed
  at.stays = at.stays.filter(({ event, why }) =>
    event.work_item_id !== frame.work_item_id && !(plan && why !== "lapsed"));
  const where = at.askedIn.get(frame.request_id) ?? "";
  at.passing.delete(where);
  if (where === at.conversation) at.thinking = false;
  return ["cards", "stream"];
}

/** Whether something belongs to the conversation that is shown. */
export const isHere = (at, one) => (one.conversation ?? "") === at.conversation;

/** The messages here that wait for an answer, the oldest first. */
export const answeringHere = (at) => [...at.answering].filter(([, where]) => where === at.conversation).map(([id]) => id);

export const thinksHere = (at) => answeringHere(at).length > 0 && ![...at.deltas.values()].some((one) => isHere(at, one));

/** What goes on in a conversation, in words for a list. */
export function stirs(at, id) {
  const of = (one) => (one.conversation ?? "") === id;
  const cards = at.cards.filter((card) => (at.askedIn.get(card.request_id) ?? "") === id).length;
  const words = [];
  if (cards) words.push(cards === 1 ? t("1 card waits") : t("{cards} cards wait", { cards }));
  if ([...at.running.values()].some(of)) words.push(t("working"));
  else if ([...at.answering.values()].includes(id)) words.push(t("answering"));
  if (at.unread.has(id)) words.push(t("new"));
  return words;
}

/** Take note of a conversation; the latest stands first. */
export function keepRow(at, row) {
  const others = at.conversations.filter((one) => one.id !== row.id);
  at.conversations = (row.deleted ? others : [row, ...others]).sort((a, b) => b.said_at.localeCompare(a.said_at));
}

/** Said elsewhere: not shown here. */
function pass(at, told) {
  at.outgoing = at.outgoing.filter((one) => one.id !== told.id);
  at.seq = Math.max(at.seq, told.seq);
}

/** Keep a message or result at its place; one that is there already is not there twice. */
function keep(at, told) {
  const kept = shown(at, told);
  at.outgoing = at.outgoing.filter((one) => one.id !== kept.id);
  at.seq = Math.max(at.seq, kept.seq);
  const same = at.transcript.findIndex((one) => one.seq === kept.seq);
  if (same >= 0) {
    at.transcript = at.transcript.with(same, kept);
    return;
  }
  const over = (one) => one.again && one.work_item_id === kept.work_item_id ? { ...one, again: false } : one;
  at.transcript = [...at.transcript.map(over), kept].sort((a, b) => a.seq - b.seq);
}

/** A message without its words, and a result without what its work made, where that was forgotten. */
function shown(at, kept) {
  const asked = at.withheld.get(kept.asked?.seq);
  if (asked) kept = { ...kept, asked: { ...kept.asked, words: asked } };
  const words = at.withheld.get(kept.seq);
  if (!words) return kept;
  if (kept.type !== "post_execution") return { ...kept, text: words };
  const gone = Object.fromEntries(["summary", "output", "report"].map((name) => [name, kept[name] && words]));
  return { ...kept, ...gone, diff: "", checks: kept.checks.map((check) => ({ ...check, words: "" })) };
}

/** Older ones from `GET /transcript`, put before what is there. */
export function keepOlder(at, older, more) {
  const fetched = new Map(older.map((kept) => [kept.seq, shown(at, kept)]));
  const names = new Set(older.map((kept) => kept.id));
  at.outgoing = at.outgoing.filter((one) => !names.has(one.id));
  at.transcript = [...fetched.values(), ...at.transcript.filter((one) => !fetched.has(one.seq))].sort((a, b) => a.seq - b.seq);
  at.complete = !more;
}

/** Whether the card is what its digest says: null until that is known, or where it cannot be. */
export function sealOf(event) {
  const known = state.sealed.get(event.request_id);
  if (known && known.digest === event.digest) return known.fits;
  state.sealed.set(event.request_id, { digest: event.digest, fits: null });
  cardDigest(event)
    .then((found) => found === event.digest, () => null)
    .then((fits) => {
      state.sealed.set(event.request_id, { digest: event.digest, fits });
      emit("cards");
    });
  return null;
}

/** How many open questions weigh: the ones of medium risk and more (spec 0.5.4). */
export const weighty = (cards) => cards.filter((card) => card.card.risk_level !== "low").length;
