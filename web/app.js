/* The page as a whole: three surfaces, the rest behind More, and where one is. */

import { announce, fill, h, icon, toast } from "./dom.js";
import { mountReview } from "./review.js";
import { connect } from "./socket.js";
import { on, state, weighty } from "./state.js";
import { mountStop } from "./stop.js";
import { mountStream } from "./stream.js";
import { settled } from "./text.js";
import { statusWords } from "./result.js";
import { speak, t, translate } from "./words.js";

const VIEWS = { stream: t("Stream"), conversations: t("Conversations"), review: t("Review"), activity: t("Activity"), more: t("More") };
const SIDE = new Set(["conversations", "activity", "more"]); // on a wide screen these slide over the other two
const wide = matchMedia("(min-width: 900px)");
const at = (id) => document.getElementById(id);

const PATIENCE = 600; // milliseconds that an empty page may wait for its first words

let view = "";
let before = "stream"; // where closing a slide-over leads back to

function route() {
  const [name, ...rest] = location.hash.replace(/^#\/?/, "").split("/").filter(Boolean);
  const next = name in VIEWS ? name : "stream";
  if (view && !SIDE.has(view)) before = view;
  const moved = view !== next;
  view = next;
  document.body.dataset.view = view;
  drawTitle();
  for (const link of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-to]"))) {
    if (link.dataset.to === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  layer();
  if (SIDE.has(view)) opened(view, rest, moved);
  if (moved && !SIDE.has(view) && !wide.matches && document.hasFocus()) at(view).querySelector("h1")?.focus({ preventScroll: true });
}

/** What lies under a slide-over cannot be reached until it is closed. */
function layer() {
  const over = wide.matches && SIDE.has(view);
  at("desk").inert = over;
  at("shade").hidden = !over;
  for (const name of SIDE) at(name).hidden = name !== view;
}

const PANELS = {
  conversations: async (place) => (await import("./conversations.js")).showConversations(place),
  activity: async (place, rest) => (await import("./activity.js")).showActivity(place, rest),
  more: async (place, rest) => (await import("./more.js")).showMore(place, rest),
};

let opening = 0; // of panels: only the last one that was opened says when it is drawn

async function opened(name, rest, moved) {
  const panel = at(name), mine = ++opening;
  panel.setAttribute("aria-busy", "true");
  const shown = PANELS[name](at(`${name}-body`), rest);
  if (moved) panel.querySelector("h1").focus({ preventScroll: true });
  panel.querySelector(".side-scroll").scrollTop = 0;
  await shown.finally(() => { if (mine === opening) for (const one of SIDE) at(one).removeAttribute("aria-busy"); });
  if (!moved && view === name && document.activeElement === document.body) {
    /** @type {HTMLElement} */ (panel.querySelector(".page-title") ?? panel.querySelector("h1")).focus({ preventScroll: true });
  }
}

function close() {
  location.hash = `#/${before}`;
}

const waiting = () => state.cards.length + state.waiting.length;

function drawTitle() {
  const many = waiting();
  document.title = `${many ? `(${many}) ` : ""}${VIEWS[view]} · Silas`;
}

function drawBadge() {
  const many = waiting();
  drawTitle();
  const heavy = weighty(state.cards) > 5;
  for (const badge of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".badge"))) {
    badge.hidden = !many;
    badge.textContent = String(many);
    badge.classList.toggle("heavy", heavy);
  }
  for (const link of document.querySelectorAll("[data-to=review]")) {
    link.setAttribute("aria-label", many ? t("Review, {many} waiting", { many }) : t("Review"));
  }
  if ("setAppBadge" in navigator) (many ? navigator.setAppBadge(many) : navigator.clearAppBadge()).catch(() => undefined);
}

const LINK = {
  connecting: [t("Connecting"), ""],
  open: [t("Connected"), ""],
  lost: [t("Not connected"), t("Silas cannot be reached just now. You can go on writing; it is sent as soon as Silas is back.")],
  refused: [t("Not paired"), t("This browser is no longer paired. “Devices” under “More” on a paired one gives a fresh link, as does silas devices link in a terminal.")],
};

/** Whoever listens hears what Silas says, as it comes. */
function tell(kept) {
  if (kept?.type === "message" && kept.sender === "silas") announce(`Silas: ${kept.text}`);
  if (kept?.type === "post_execution") announce(`${kept.title}: ${statusWords(kept.status)}. ${kept.summary}`);
}

let lostSince = 0;
function drawLink() {
  const [words, sentence] = LINK[state.link];
  const dot = at("link");
  dot.dataset.link = state.link;
  dot.setAttribute("aria-label", words);
  dot.title = state.device && state.link === "open" ? `${words} · ${state.device}` : words;
  const banner = at("offline");
  lostSince = state.link === "lost" ? lostSince || Date.now() : 0;
  const show = () => {
    const due = state.link === "refused" || (state.link === "lost" && Date.now() - lostSince >= 1200);
    if (banner.hidden === !due) return;
    banner.hidden = !due;
    if (due) announce(LINK[state.link][1]);
    if (due) fill(banner, icon("alert"), h("p", {}, LINK[state.link][1]));
  };
  show();
  if (sentence) setTimeout(show, 1250); // a blink of the connection is not worth a banner
}

/** The record is not the one that was signed: said for as long as it is so. */
function drawChanged() {
  const banner = at("changed");
  banner.hidden = !state.changed;
  if (state.changed) fill(banner, h("p", {}, state.changed));
}

/** Drawn once Silas has said what there is, or cannot. */
function ready() {
  const there = () => { document.body.dataset.ready = "yes"; };
  if (state.arrived) settled().then(there);
  else if (state.link === "lost" || state.link === "refused") there();
}

const HANDS = new Set(["/", "?", "r", "a", "d"]);

/** The keys of `hands.js`: none where somebody writes, where a question lies over everything, or held down. */
function keys(event) {
  if (event.repeat || event.isComposing || event.altKey || document.querySelector("dialog[open]") || document.body.dataset.setup) return;
  const control = event.ctrlKey || event.metaKey;
  const key = control && event.key.toLowerCase() === "k" ? "palette" : control ? "" : event.key;
  const writing = event.target.closest?.("input, textarea, select, [contenteditable]");
  if (key !== "palette" && (!HANDS.has(key) || writing)) return;
  event.preventDefault();
  import("./hands.js").then(({ press }) => press(key), () => toast(t("This key needs a connection first.")));
}

function start() {
  translate(document.body);
  for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-icon]"))) place.append(icon(place.dataset.icon));
  for (const place of document.querySelectorAll(".close")) place.append(icon("close"));
  mountStream(at("stream"));
  mountReview(at("review"));
  mountStop(at("stop-place"), at("stopped"));
  on("changed all", drawChanged);
  on("cards all", drawBadge);
  on("link all", drawLink);
  on("link all", ready);
  setTimeout(() => { document.body.dataset.ready = "yes"; }, PATIENCE);
  let asked = false;
  on("all", () => {
    if (!state.onboarding || asked || state.level !== "owner") return;
    asked = true;
    const seen = new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    seen.then(() => import("./setup.js")).then(({ firstRun }) => firstRun(at("setup"))).catch(() => { asked = false; });
  });
  on("frame:card_closed frame:post_execution", () => {
    const reading = at("activity").querySelector(".side-scroll").scrollTop > 40;
    if (location.hash === "#/activity" && !reading) route();
  });
  on("frame:withheld", () => { if (location.hash.startsWith("#/more/work/")) route(); });
  on("devices", () => toast(state.newcomer));
  let told = null;
  on("all", () => { told = state.transcript.at(-1); });
  on("all", () => speak(state.language));
  on("frame:message frame:post_execution", () => { // what is shown, once
    const last = state.transcript.at(-1);
    if (last !== told) tell(last);
    told = last;
  });
  addEventListener("hashchange", route);
  wide.addEventListener("change", layer);
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && SIDE.has(view) && !document.querySelector("dialog[open]")) close();
  });
  addEventListener("keydown", keys);
  at("shade").onclick = close;
  for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-close]"))) button.onclick = close;
  route();
  drawLink();
  connect();
  if ("serviceWorker" in navigator) navigator.serviceWorker.register("/sw.js").catch(() => undefined);
}

start();
