/* The Stream: what was said, what is under way, what came of it. */

import { button, fill, h, icon, keyed, toast } from "./dom.js";
import { atEnd, part, showAround, steady, tooMuch } from "./history.js";
import { refreshResult, resultView } from "./result.js";
import { forget, say, sayAgain } from "./socket.js";
import { answeringHere, emit, isHere, on, state } from "./state.js";
import { talkBar } from "./talks.js";
import { drawAsWritten, drawWords, soon } from "./text.js";
import { atTime, dayOf, greeting, inFull, stopwatch } from "./time.js";
import { locale, t } from "./words.js";

const MOST = 20_000; // characters of a message, as `wire.py` has it
const DRAFT = "silas.draft"; // of this tab and conversation alone, until it is sent or the tab is closed
const draftName = () => (state.conversation ? `${DRAFT}.${state.conversation}` : DRAFT);
const NEAR = 120; // pixels from the end within which the Stream follows what is new

/** What is fetched when it is first done. */
const later = async (does, ...given) => (await import("./said.js"))[does](...given);
const attach = async (does, ...given) => (await import("./attach.js"))[does](...given);

const ATTACHED = "Attached: @attached/"; // as `attachments.py` has it

/** A message's own words, and the files named below them. */
function parted(text) {
  const lines = text.split("\n");
  const names = [];
  while (lines.at(-1)?.startsWith(ATTACHED)) names.unshift(lines.pop().slice(ATTACHED.length));
  return { words: names.length ? lines.join("\n").trim() : text, names };
}

export function mountStream(root) {
  const scroll = h("div", { class: "stream-scroll", tabindex: "-1" });
  let fetching = false;
  const fetchOlder = async () => {
    if (fetching || older.hidden) return;
    fetching = true;
    await later("loadOlder", (draw) => steady(scroll, log, draw));
    fetching = false;
  };
  const older = button(t("Earlier messages"), fetchOlder, { class: "quiet older", hidden: true });
  const hint = h("div", { class: "hint-place" });
  const log = h("ol", { class: "log-list", "aria-label": t("Conversation") });
  const running = h("div", { class: "running" });
  const tail = h("div", { class: "tail", "aria-live": "off" });
  const halt = button(t("Stop this answer"), () => later("stopAnswer"), { class: "quiet small-button", hidden: true, "data-testid": "stop-answer" });
  const empty = h("div", { class: "empty stream-empty", hidden: true });
  scroll.append(older, hint, empty, log, running, tail);
  const bar = h("div", { class: "review-bar", hidden: true });
  root.append(h("h1", { class: "unseen", tabindex: "-1" }, t("Stream")), talkBar(), scroll, h("div", { class: "halt-place" }, halt), bar, composer());

  // Whoever reads the newest goes on reading it, also where words get their form.
  let following = true;
  let top = 0;
  const toEnd = () => {
    if (!following || !atEnd() || !empty.hidden) return;
    scroll.scrollTop = scroll.scrollHeight;
    top = scroll.scrollTop; // rows that went are no hand
  };
  scroll.onscroll = () => { // nor is what grew
    if (scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < NEAR) following = true;
    else if (scroll.scrollTop < top) following = false;
    top = scroll.scrollTop;
    if (!atEnd() || !following) later("scrolled", scroll, log, allRows, () => drawLog(log), fetchOlder);
  };
  const grown = new ResizeObserver(() => {
    toEnd();
    if (following && atEnd() && tooMuch(log)) requestAnimationFrame(drawAll);
  });
  for (const part of [log, tail, running]) grown.observe(part);
  const follow = (draw) => () => {
    draw();
    toEnd();
  };
  const drawAll = follow(() => {
    drawEmpty(empty);
    drawHint(hint);
    older.hidden = state.complete || !state.transcript.length;
    if (following) drawLog(log);
    else steady(scroll, log, () => drawLog(log), running);
    if (running.firstChild || state.running.size) import("./running.js").then((module) => module.drawRunning(running));
    drawTail(tail);
    halt.hidden = !answeringHere(state).length;
  });
  on("stream running all link", drawAll);
  on("cards", follow(() => drawBar(bar)));
  on("frame:message frame:post_execution", tellAbove);
  on("all", () => requestAnimationFrame(() => { scroll.scrollTop = empty.hidden ? scroll.scrollHeight : 0; }));
  drawAll();
}

let replaced = new Set(); // messages that were edited and asked again

function drawLog(log) {
  const rows = allRows();
  do keyed(log, part(rows).rows, (row) => row.key, makeRow, updateRow);
  while (tooMuch(log));
}

function allRows() {
  let day = "";
  const rows = [];
  const said = [...state.transcript, ...state.outgoing.filter((one) => isHere(state, one)).map((one) => ({ type: "outgoing", ...one }))];
  const names = new Set(said.map((one) => one.id));
  for (const kept of inPlace(said)) {
    const its = kept.moved ? day : dayOf(kept.timestamp ?? kept.at);
    if (its !== day) rows.push({ type: "day", key: `day ${its}`, words: its });
    day = its;
    // An owner's message keeps its node when the server has it: nothing on the page jumps.
    rows.push({ ...kept, apart: kept.asked && !names.has(kept.reply_to), key: keyOf(kept) });
  }
  replaced = new Set(said.map((one) => one.replaces));
  return rows;
}

const keyOf = (row) => (row.type === "post_execution" ? `r${row.seq}` : `m${row.id ?? row.seq}`);

/** What is said later to a message stands under it. */
function inPlace(said) {
  const rows = [];
  for (const one of said) {
    const above = one.reply_to ? rows.findLastIndex((row) => row.id === one.reply_to || row.reply_to === one.reply_to) : -1;
    if (above < 0 || above === rows.length - 1) rows.push(one);
    else rows.splice(above + 1, 0, { ...one, moved: true });
  }
  return rows;
}

/** Whoever is further down learns of it, and gets there. */
function tellAbove() {
  const last = state.transcript.at(-1);
  const moved = last?.seq === state.seq && inPlace(state.transcript).find((row) => row.moved && row.seq === last.seq);
  if (moved) toast(t("Answered above: {moved}", { moved: shortly(moved.text ?? moved.title) }),
    { label: t("Show it"), act: () => later("showRow", keyOf(moved)) });
}

const shortly = (text) => (text.length > 100 ? `${text.slice(0, 100).replace(/\s+\S*$/, "")} …` : text);

function makeRow(row) {
  if (row.type === "day") return h("li", { class: "day" }, h("span", {}, row.words));
  if (row.type === "post_execution") return h("li", { class: "from-silas" }, resultView(row));
  const mine = row.type === "outgoing" || row.sender !== "silas";
  const node = h("li", { class: mine ? "from-owner" : "from-silas", "data-testid": mine ? "said" : "heard" });
  node.append(
    h("span", { class: "unseen" }, mine ? t("You: ") : t("Silas: ")),
    h("div", { class: "text", dir: "auto" }), h("div", { class: "meta" }));
  updateRow(node, row);
  return node;
}

/** The owner's words stand as he wrote them; Silas's have a form. */
function drawText(node, row) {
  const place = node.querySelector(".text");
  if (row.type !== "outgoing" && row.sender === "silas") return drawWords(place, row.text);
  const { words, names } = parted(row.text);
  drawAsWritten(place, words);
  place.hidden = !words;
  if (names.length) attach("showFiles", node, names);
}

function updateRow(node, row) {
  if (row.type === "day") return;
  if (row.type === "post_execution") {
    refreshResult(node.firstChild, row);
    return;
  }
  drawText(node, row);
  const meta = node.lastChild;
  const now = row.type === "outgoing" ? `out ${row.sent} ${row.refused} ${state.link}` : `kept ${row.sender} ${replaced.has(row.id)}`;
  if (meta.dataset.drawn === now) return;
  meta.dataset.drawn = now;
  if (row.type === "outgoing") fill(meta, outgoingWords(row));
  else {
    fill(meta, h("time", { datetime: row.timestamp, title: inFull(row.timestamp) }, atTime(row.timestamp)),
      row.sender === "auth" && t(" · not signed"), replaced.has(row.id) && t(" · replaced"), " ", row.sender === "silas"
        ? copying(node, row.text, "answer")
        : [copying(node, parted(row.text).words, "message"), " ", button(t("Edit and ask again"), () => {
          const { words, names } = parted(row.text);
          later("again", row, words, names);
        }, { class: "link of-message", "data-testid": "ask-again" })]);
  }
}

const copying = (node, text, what) => button(t("Copy"), () => later("copyWords", node, text),
  { class: "link of-message", "aria-label": t("Copy this {what}", { what }), "data-testid": `copy-${what}` });

function outgoingWords(row) {
  if (row.refused) {
    return [h("span", { class: "warning-text" }, t("Not taken: {refused} ", { refused: row.refused })),
      button(t("Send again"), () => sayAgain(row), { class: "link" }), " ",
      button(t("Remove"), () => forget(row), { class: "link" })];
  }
  if (row.sent) return t("Sent");
  return state.link === "open" ? t("Sending …") : t("Waits for the connection");
}

function drawTail(tail) {
  const deltas = [...state.deltas].filter(([, one]) => isHere(state, one));
  const rows = deltas.map(([turn, { text }]) => ({ key: turn, text }));
  if (!rows.length && (state.thinking || passing())) rows.push({ key: "thinking", text: "" });
  keyed(tail, rows, (row) => row.key, (row) => {
    const node = h("div", { class: "from-silas coming" }, h("div", { class: "text", dir: "auto" }));
    if (!row.text) node.firstChild.append(dots(), drawPassing(h("p", { class: "passing", role: "status" })));
    else drawWords(node.firstChild, row.text);
    return node;
  }, (node, row) => {
    if (!row.text) drawPassing(node.querySelector(".passing"));
    else drawWords(node.firstChild, row.text);
  });
}

const dots = () => h("span", { class: "dots", role: "status", "aria-label": t("Silas is working on it") }, h("i"), h("i"), h("i"));

const passing = () => state.passing.get(state.conversation) ?? "";

/** What is waited for, and for how many seconds; only the words are read aloud. */
function drawPassing(place) {
  const words = passing();
  if (place.dataset.shown === words) return place;
  place.dataset.shown = words;
  if (!words) return fill(place);
  const seconds = h("span", { "aria-hidden": "true" });
  fill(place, h("span", { dir: "auto" }, words), seconds);
  stopwatch(seconds, (passed) => { seconds.textContent = passed ? `, ${passed} s` : ""; });
  return place;
}

function drawEmpty(place) {
  const some = (list) => [...list].some((one) => isHere(state, one));
  const nothing = state.arrived && !state.loading && !state.transcript.length && !some(state.outgoing) && !some(state.running.values());
  if (place.hidden === !nothing && place.firstChild) return;
  place.hidden = !nothing;
  if (!nothing) return;
  const chips = state.runbook
    ? [t("What can you do?"), t("Run the tests"), t("How many files are there?")]
    : [t("What can you do?"), t("What did you do while I was away?"), t("Fix the failing test")];
  fill(place,
    h("p", { class: "empty-title" }, `${greeting()}.`),
    h("p", {}, t("Say what you need. Silas makes a plan, you decide, and every result is checked before you are told it is done.")),
    h("div", { class: "chips" }, chips.map((chip) => button(chip, () => say(chip), { class: "chip" }))));
}

function drawHint(place) {
  const wanted = state.runbook ? "runbook" : "";
  if (place.dataset.drawn === wanted) return;
  place.dataset.drawn = wanted;
  fill(place, wanted && h("p", { class: "runbook-hint" },
    h("b", {}, t("Runbook mode. ")),
    t("No language model is set up, so Silas follows the written plans it has and says so where it has none. "),
    h("a", { href: "#/more/answering" }, t("Set one up"))));
}

/** On a phone the question is on another tab; a bar says so where one is writing. */
function drawBar(bar) {
  const many = state.cards.length;
  bar.hidden = !many;
  if (!many) return;
  fill(bar, h("a", { href: "#/review", "data-testid": "review-bar" },
    h("span", { class: "bar-text", dir: "auto" }, state.cards[0].card.intent),
    h("span", { class: "bar-more" }, many > 1 ? t("Review {many}", { many }) : t("Review"), icon("next"))));
}

const tooLong = (length, then) =>
  t("That is {length} characters, and a message has room for {most}. {then}", { length: length.toLocaleString(locale), most: MOST.toLocaleString(locale), then });

function composer() {
  const field = h("textarea", {
    id: "say", rows: "1", placeholder: t("What should be done?"), "aria-label": t("Message to Silas"),
    autocomplete: "off", enterkeyhint: "send", dir: "auto", "data-testid": "composer",
  });
  const clip = button(icon("clip"), () => attach("pick"), { class: "icon-button", "aria-label": t("Attach files"), "data-testid": "attach" });
  const send = h("button", { type: "submit", class: "send", "aria-label": t("Send") }, icon("send"));
  const problem = h("p", { class: "field-problem", role: "alert", "data-testid": "composer-problem" });
  const form = h("form", { class: "composer", onsubmit: submit }, problem, clip, field, send);
  const grow = () => {
    field.style.height = "auto";
    field.style.height = `${Math.min(field.scrollHeight, 160)}px`;
    send.disabled = !field.value.trim() && !state.attached.length;
    if (field.value.length <= MOST) fill(problem);
  };
  function submit(event) {
    event.preventDefault();
    if (state.attached.some((one) => !one.id)) return fill(problem, t("A file is still on its way; send it when it is there."));
    const text = [field.value.trim(), "", ...state.attached.map((one) => ATTACHED + one.name)].join("\n").trim();
    if (!text) return;
    if (text.length > MOST) {
      fill(problem, tooLong(text.length, t("Shorten it, or say it in several messages.")));
      return;
    }
    field.value = "";
    sessionStorage.removeItem(draftName()); // what was sent is not kept twice, and not here
    state.attached = [];
    emit("attached");
    showAround();
    say(text);
    soon(); // an answer comes, and it may have a form
    const scroll = form.parentNode.querySelector(".stream-scroll");
    scroll.scrollTop = scroll.scrollHeight;
  }
  const take = (event, from) => { // no file that is let go over the page takes its place
    if (!from?.types.includes("Files")) return;
    event.preventDefault();
    if (from.files.length) attach("take", [...from.files]);
  };
  addEventListener("dragover", (event) => take(event, { types: event.dataTransfer?.types ?? [], files: [] }));
  addEventListener("drop", (event) => take(event, event.dataTransfer));
  on("attached", grow);
  field.onpaste = (event) => {
    take(event, event.clipboardData);
    const pasted = event.clipboardData?.getData("text/plain").length ?? 0;
    if (pasted <= MOST) return;
    event.preventDefault(); // a field with millions of characters would hold up the page
    fill(problem, tooLong(pasted, t("Nothing was pasted: attach it as a file.")));
  };
  field.oninput = () => {
    grow();
    if (!field.value) state.replaces = "";
    if (field.value && field.value.length <= MOST) sessionStorage.setItem(draftName(), field.value);
    else sessionStorage.removeItem(draftName());
  };
  let drafted = "";
  const takeDraft = () => { // each conversation has its own
    if (drafted === draftName()) return;
    drafted = draftName();
    state.replaces = "";
    field.value = sessionStorage.getItem(drafted) ?? "";
    if (sessionStorage.getItem(`silas.attached.${state.conversation || "first"}`)) attach("restore");
    if (field.isConnected) grow();
  };
  on("all", takeDraft);
  takeDraft();
  field.onkeydown = (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
  };
  send.disabled = !field.value.trim();
  if (field.value) requestAnimationFrame(grow); // its height is known once it is in the page
  return form;
}
