/* The Stream: what was said, what is under way, what came of it. */

import { getJson } from "./api.js";
import { button, fill, h, icon, keyed, toast } from "./dom.js";
import { named } from "./card.js";
import { refreshResult, resultView } from "./result.js";
import { drawRunning } from "./running.js";
import { forget, say, sayAgain } from "./socket.js";
import { emit, keepOlder, on, state } from "./state.js";
import { atTime, dayOf, greeting, inFull, stopwatch } from "./time.js";

const NEAR = 120; // pixels from the end within which the Stream follows what is new

export function mountStream(root) {
  const scroll = h("div", { class: "stream-scroll", tabindex: "-1" });
  const older = button("Earlier messages", loadOlder, { class: "quiet older", hidden: true });
  const hint = h("div", { class: "hint-place" });
  const log = h("ol", { class: "log-list", "aria-label": "Conversation" });
  const running = h("div", { class: "running" });
  const tail = h("div", { class: "tail", "aria-live": "off" });
  const empty = h("div", { class: "empty stream-empty", hidden: true });
  scroll.append(older, hint, empty, log, running, tail);
  const bar = h("div", { class: "review-bar", hidden: true });
  root.append(h("h1", { class: "unseen", tabindex: "-1" }, "Stream"), scroll, bar, composer());

  const follow = (draw) => () => {
    const near = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < NEAR;
    draw();
    if (near) scroll.scrollTop = scroll.scrollHeight;
  };
  const drawAll = follow(() => {
    drawEmpty(empty);
    drawHint(hint);
    older.hidden = state.complete || !state.transcript.length;
    drawLog(log);
    drawRunning(running);
    drawTail(tail);
  });
  on("stream running all link", drawAll);
  on("cards", follow(() => drawBar(bar)));
  on("all", () => requestAnimationFrame(() => { scroll.scrollTop = empty.hidden ? scroll.scrollHeight : 0; }));
  drawAll();

  async function loadOlder() {
    const first = state.transcript[0]?.seq ?? state.seq;
    const before = scroll.scrollHeight;
    try {
      const answer = await getJson(`/transcript?before=${Math.max(1, first)}&last=50`);
      keepOlder(state, answer.transcript, !answer.complete);
      emit("stream");
      scroll.scrollTop += scroll.scrollHeight - before;
    } catch (error) {
      toast(error.message);
    }
  }
}

function drawLog(log) {
  let day = "";
  const rows = [];
  const said = [...state.transcript, ...state.outgoing.map((one) => ({ type: "outgoing", ...one }))];
  for (const kept of said) {
    const its = dayOf(kept.timestamp ?? kept.at);
    if (its !== day) rows.push({ type: "day", key: `day ${its}`, words: its });
    day = its;
    // An owner's message keeps its node when the server has it: nothing on the page jumps.
    rows.push({ ...kept, key: kept.type === "post_execution" ? `r${kept.seq}` : `m${kept.id ?? kept.seq}` });
  }
  keyed(log, rows, (row) => row.key, makeRow, updateRow);
}

function makeRow(row) {
  if (row.type === "day") return h("li", { class: "day" }, h("span", {}, row.words));
  if (row.type === "post_execution") return h("li", { class: "from-silas" }, resultView(row));
  const mine = row.type === "outgoing" || row.sender !== "silas";
  const node = h("li", { class: mine ? "from-owner" : "from-silas", "data-testid": mine ? "said" : "heard" });
  node.append(
    h("span", { class: "unseen" }, mine ? "You: " : "Silas: "),
    h("div", { class: "text", dir: "auto" }), h("div", { class: "meta" }));
  updateRow(node, row);
  return node;
}

const written = new WeakMap(); // the words in a node; they change only where they were forgotten

function drawText(place, row) {
  if (written.get(place) === row.text) return;
  written.set(place, row.text);
  fill(place, row.type === "outgoing" || row.sender !== "silas" ? row.text : paragraphs(row.text));
}

function updateRow(node, row) {
  if (row.type === "day") return;
  if (row.type === "post_execution") {
    refreshResult(node.firstChild, row);
    return;
  }
  drawText(node.querySelector(".text"), row);
  const meta = node.lastChild;
  const now = row.type === "outgoing" ? `out ${row.sent} ${row.refused} ${state.link}` : `kept ${row.sender}`;
  if (meta.dataset.drawn === now) return;
  meta.dataset.drawn = now;
  if (row.type === "outgoing") fill(meta, outgoingWords(row));
  else {
    fill(meta, h("time", { datetime: row.timestamp, title: inFull(row.timestamp) }, atTime(row.timestamp)),
      row.sender === "auth" && " · not signed");
  }
}

function outgoingWords(row) {
  if (row.refused) {
    return [h("span", { class: "warning-text" }, `Not taken: ${row.refused} `),
      button("Send again", () => sayAgain(row), { class: "link" }), " ",
      button("Remove", () => forget(row), { class: "link" })];
  }
  if (row.sent) return "Sent";
  return state.link === "open" ? "Sending …" : "Waits for the connection";
}

/** Text with blank lines between paragraphs; what stands between fences is kept as it is. */
function paragraphs(text) {
  const parts = [];
  text.split(/^```.*$/m).forEach((piece, n) => {
    if (n % 2) parts.push(h("pre", { class: "code", tabindex: "0" }, piece.replace(/^\n|\n$/g, "")));
    else {
      for (const one of piece.split(/\n{2,}/)) parts.push(...blocks(one.trim()));
    }
  });
  return parts;
}

/** Lines that begin with a dash are a list; the others are as they were written. */
function blocks(text) {
  const found = [];
  for (const line of text ? text.split("\n") : []) {
    const item = /^[-*] (.+)$/.exec(line);
    const tag = item ? "ul" : "p";
    const last = found.at(-1);
    if (last?.tag === tag) last.lines.push(item?.[1] ?? line);
    else found.push({ tag, lines: [item?.[1] ?? line] });
  }
  return found.map(({ tag, lines }) => tag === "p" ? h("p", { dir: "auto" }, named(lines.join("\n")))
    : h("ul", { class: "plainlist" }, lines.map((line) => h("li", { dir: "auto" }, named(line)))));
}

function drawTail(tail) {
  const deltas = [...state.deltas];
  const rows = deltas.map(([turn, text]) => ({ key: turn, text }));
  if (!rows.length && (state.thinking || state.passing)) rows.push({ key: "thinking", text: "" });
  keyed(tail, rows, (row) => row.key, (row) => {
    const node = h("div", { class: "from-silas coming" }, h("div", { class: "text", dir: "auto" }));
    if (!row.text) node.firstChild.append(dots(), drawPassing(h("p", { class: "passing", role: "status" })));
    else fill(node.firstChild, paragraphs(row.text));
    return node;
  }, (node, row) => {
    if (!row.text) drawPassing(node.querySelector(".passing"));
    if (!row.text || node.dataset.shown === row.text) return;
    node.dataset.shown = row.text;
    fill(node.firstChild, paragraphs(row.text));
  });
}

const dots = () => h("span", { class: "dots", role: "status", "aria-label": "Silas is working on it" }, h("i"), h("i"), h("i"));

/** What is waited for, and for how many seconds; only the words are read aloud. */
function drawPassing(place) {
  if (place.dataset.shown === state.passing) return place;
  place.dataset.shown = state.passing;
  if (!state.passing) return fill(place);
  const seconds = h("span", { "aria-hidden": "true" });
  fill(place, h("span", { dir: "auto" }, state.passing), seconds);
  stopwatch(seconds, (passed) => { seconds.textContent = passed ? `, ${passed} s` : ""; });
  return place;
}

function drawEmpty(place) {
  const nothing = state.arrived && !state.transcript.length && !state.outgoing.length && !state.running.size;
  if (place.hidden === !nothing && place.firstChild) return;
  place.hidden = !nothing;
  if (!nothing) return;
  const chips = state.runbook
    ? ["What can you do?", "Run the tests", "Fix the failing test"]
    : ["What can you do?", "What did you do while I was away?", "Fix the failing test"];
  fill(place,
    h("p", { class: "empty-title" }, `${greeting()}.`),
    h("p", {}, "Say what you need. Silas makes a plan, you decide, and every result is checked before you are told it is done."),
    h("div", { class: "chips" }, chips.map((chip) => button(chip, () => say(chip), { class: "chip" }))));
}

function drawHint(place) {
  const wanted = state.runbook ? "runbook" : "";
  if (place.dataset.drawn === wanted) return;
  place.dataset.drawn = wanted;
  fill(place, wanted && h("p", { class: "runbook-hint" },
    h("b", {}, "Runbook mode. "),
    "No language model is set up, so Silas follows the written plans it has and says so where it has none. ",
    h("a", { href: "#/more/setup" }, "Set one up")));
}

/** On a phone the question is on another tab; a bar says so where one is writing. */
function drawBar(bar) {
  const many = state.cards.length;
  bar.hidden = !many;
  if (!many) return;
  fill(bar, h("a", { href: "#/review", "data-testid": "review-bar" },
    h("span", { class: "bar-text", dir: "auto" }, state.cards[0].card.intent),
    h("span", { class: "bar-more" }, many > 1 ? `Review ${many}` : "Review", icon("next"))));
}

function composer() {
  const field = h("textarea", {
    id: "say", rows: "1", placeholder: "What should be done?", "aria-label": "Message to Silas",
    maxlength: "20000", autocomplete: "off", enterkeyhint: "send", dir: "auto", "data-testid": "composer",
  });
  const send = h("button", { type: "submit", class: "send", "aria-label": "Send" }, icon("send"));
  const form = h("form", { class: "composer", onsubmit: submit }, field, send);
  const grow = () => {
    field.style.height = "auto";
    field.style.height = `${Math.min(field.scrollHeight, 160)}px`;
    send.disabled = !field.value.trim();
  };
  function submit(event) {
    event.preventDefault();
    const text = field.value.trim();
    if (!text) return;
    field.value = "";
    grow();
    say(text);
    const scroll = form.parentNode.querySelector(".stream-scroll");
    scroll.scrollTop = scroll.scrollHeight;
  }
  field.oninput = grow;
  field.onkeydown = (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
  };
  send.disabled = true;
  return form;
}
