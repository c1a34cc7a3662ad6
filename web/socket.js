/* The live connection: the token first, then frames both ways. It comes back by itself, and what
   was not acknowledged is sent again under the same id, with a fresh signature. */

import { cardDigest, readJson } from "./canonical.js";
import { pageToken } from "./api.js";
import { deviceKey, noteServerTime, now, proveDecision, proveMessage } from "./keys.js";
import { apply, emit, state } from "./state.js";
import { kept as keptConversation } from "./talks.js";

const OUTBOX = "silas.outbox";
const HEAD = "silas.head"; // the newest signed head of the record: this device can tell if it goes back
const WAITS = [400, 800, 1500, 3000, 6000, 10_000]; // between attempts; then the last again
const FRESH = 3_000; // an attempt this young is not given up when somebody looks
const ASLEEP = 40_000; // a page hidden for longer may hold a connection that is dead
const TOKEN_REFUSED = 4001;
// A network that goes away without a word leaves a connection that looks open, or never gets there:
const OPENING = 15_000; // until Silas has said what there is
const QUIET = 15_000; // without a word from Silas: then it is asked for one
const SOON = 2_000; // the same, where this page has just sent something
const ANSWER = 10_000; // until the word that was asked for is there
const PING = "ping";

let socket = null;
let ready = false;
let attempts = 0;
let retry = 0;
let hiddenSince = 0;
let doubt = 0; // the timer after which this connection is asked for a word, or given up
let asked = false; // for a word that is not there yet
let opened = 0; // when the last attempt began
const answers = new Map(); // id -> {frame, digest, key: what to call it in the state}

export function connect() {
  state.outgoing = kept();
  state.conversation = keptConversation();
  addEventListener("online", () => again(0));
  addEventListener("offline", () => lost());
  document.addEventListener("visibilitychange", onVisible);
  open();
}

/**
 * Say something; it is shown at once and sent as soon as there is a connection, and not before the
 * question `after` was closed, if one is named. Gives its id.
 */
export function say(text, after = "") {
  const message = { id: newId(), text, at: new Date(now()).toISOString(), after, conversation: state.conversation, replaces: after ? "" : state.replaces };
  if (!after) state.replaces = "";
  state.outgoing = [...state.outgoing, message];
  keepMessages();
  emit("stream");
  if (ready) sendMessage(message);
  return message.id;
}

export function sayAgain(message) {
  state.outgoing = state.outgoing.filter((one) => one.id !== message.id);
  say(message.text);
}

export function forget(message) {
  state.outgoing = state.outgoing.filter((one) => one.id !== message.id);
  keepMessages();
  emit("stream");
}

/** Answer a card. `label` is what the button said. */
export function answer(event, frame, label, wish = "") {
  const id = event.request_id;
  state.outgoing = state.outgoing.filter((one) => one.after !== id || one.id === wish); // another answer, no wish
  answers.set(id, { frame, event });
  state.answers.set(id, { label, state: "sending", words: "", wish });
  emit("cards");
  if (ready) sendAnswer(id);
}

function open() {
  clearTimeout(retry);
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  const mine = new WebSocket(`${scheme}//${location.host}/ws`);
  socket = mine;
  opened = Date.now();
  giveUpAfter(OPENING);
  mine.onopen = () => mine.send(JSON.stringify({ type: "auth", token: pageToken(), after: state.seq, head: keptHead(), conversation: state.conversation }));
  mine.onmessage = ({ data }) => {
    if (mine !== socket) return;
    for (const event of [readJson(data)].flat()) received(event); // one, or a bundle of several
    believe();
  };
  mine.onclose = ({ code }) => { if (mine === socket) lost(code); };
}

function keptHead() {
  return localStorage.getItem(HEAD) ?? "";
}

function keepHead() {
  if (state.head) localStorage.setItem(HEAD, state.head);
}

function received(frame) {
  if (frame.id === PING) return;
  if (frame.type === "stream_state") noteServerTime(frame.now); // before anything is signed or counted down
  const topics = apply(state, frame);
  if (frame.type === "stream_state") begun();
  if (frame.type === "record") keepHead();
  if (frame.type === "card_closed") {
    answers.delete(frame.request_id);
    state.outgoing.filter((one) => one.after === frame.request_id).forEach(sendMessage);
  }
  if (frame.type === "ack" || frame.type === "error") answers.delete(frame.id);
  if (frame.type === "ack" || frame.type === "message" || frame.type === "error") keepMessages();
  emit(...topics, `frame:${frame.type}`);
}

function begun() {
  ready = true;
  attempts = 0;
  state.link = "open";
  keepHead();
  const waiting = new Set(state.cards.map((card) => card.request_id));
  for (const id of answers.keys()) {
    if (waiting.has(id)) sendAnswer(id);
    else answers.delete(id);
  }
  const said = new Set(state.transcript.map((one) => one.id));
  state.outgoing = state.outgoing.filter((one) => !said.has(one.id));
  state.outgoing.filter((one) => !one.refused).forEach(sendMessage);
}

function lost(code) {
  const mine = socket;
  socket = null;
  ready = false;
  asked = false;
  mine?.close();
  clearTimeout(doubt);
  state.link = code === TOKEN_REFUSED ? "refused" : "lost";
  state.thinking = false;
  emit("link");
  if (state.link === "refused") return;
  const wait = WAITS[Math.min(attempts, WAITS.length - 1)];
  attempts += 1;
  clearTimeout(retry);
  retry = setTimeout(open, wait * (0.8 + Math.random() * 0.4));
}

/** The network is back, or another one: what was open before may be dead, and what was opening get nowhere. */
function again(young) {
  if (state.link === "refused") return;
  if (ready) return ask();
  attempts = 0;
  const former = socket;
  if (former && Date.now() - opened < young) return;
  open();
  former?.close();
}

function onVisible() {
  if (document.hidden) hiddenSince = Date.now();
  else if (!ready) again(FRESH);
  else if (hiddenSince && Date.now() - hiddenSince > ASLEEP) {
    attempts = 0;
    lost();
  } else ask();
}

/** Silas was heard: no doubt for a while. */
function believe(wait = QUIET) {
  if (!ready) return;
  clearTimeout(doubt);
  asked = false;
  doubt = setTimeout(ask, wait);
}

/** Asks for a word; a page that nobody looks at asks when somebody does. */
function ask() {
  if (!ready || asked || document.hidden) return;
  asked = true;
  send({ type: PING, id: PING });
  giveUpAfter(ANSWER);
}

function giveUpAfter(wait) {
  const mine = socket;
  clearTimeout(doubt);
  doubt = setTimeout(() => { if (mine === socket) lost(); }, wait);
}

async function sendMessage(message) {
  if (message.after && state.cards.some((card) => card.request_id === message.after)) return;
  const proof = await proveMessage(message.text);
  send({ type: "message", id: message.id, text: message.text, sender_id: null, reply_to: null, proof, conversation: message.conversation ?? "", replaces: message.replaces ?? "" });
}

/** Signs only what was shown: the digest is made afresh from the card that the answer is to. */
async function sendAnswer(id) {
  const { frame, event } = answers.get(id);
  if (!("request_id" in frame)) return send(frame);
  const found = await cardDigest(event).catch(() => ""); // plain HTTP has no digests, and no key
  const fits = found === event.digest;
  const proof = fits && (await deviceKey()) ? await proveDecision(frame, event.digest) : null;
  return send({ ...frame, proof });
}

function send(frame) {
  if (!ready || socket?.readyState !== WebSocket.OPEN) return;
  socket.send(JSON.stringify(frame));
  if (!asked) believe(SOON);
}

function newId() {
  return crypto.randomUUID?.() ?? String(Date.now()) + Math.random().toString(16).slice(2);
}

function kept() {
  try {
    return JSON.parse(localStorage.getItem(OUTBOX) ?? "[]");
  } catch {
    return [];
  }
}

function keepMessages() {
  const unsent = state.outgoing.filter((one) => !one.sent && !one.refused);
  localStorage.setItem(OUTBOX, JSON.stringify(unsent.map(({ id, text, at, after, conversation, replaces }) => ({ id, text, at, after, conversation, replaces }))));
}
