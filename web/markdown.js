/* Draws Markdown that `markdown_worker.js` has read: nodes and text, nothing of it as markup. What did
   not change of a place stays, so that an answer that grows does not jump. */

import { announce, fill, h } from "./dom.js";
import { codeBlock } from "./code.js";
import { paragraphs } from "./text.js";
import { locale, t } from "./words.js";

const PATIENCE = 4000; // milliseconds for one text once the worker is there; then it is ended
const FOLD = 20_000; // characters of a text that is shown as it was written, before "show all"
const REMEMBERED = 60; // texts whose tree is kept, so that a message takes the place of its draft at once

let worker = null;
let busy = null; // {id, text, timer}: one text at a time is read
let number = 0;
const idlers = [];
const queue = []; // {place, text, still, drawn}
/** Why a text is not drawn, as the worker says it, in the reader's language. */
const WHY = {
  "it is very long": t("it is very long"), "it nests too deeply": t("it nests too deeply"),
  "it has very many parts": t("it has very many parts"), "it cannot be read as Markdown": t("it cannot be read as Markdown"),
};
const trees = new Map(); // text -> {nodes} or {why}, the newest last

/** Its style is there before anything is drawn with it. */
await new Promise((resolve) => {
  document.head.append(h("link", { rel: "stylesheet", href: "/static/text.css", onload: resolve, onerror: resolve }));
});

/** When nothing waits to be read. */
export function idle() {
  return busy ? new Promise((resolve) => idlers.push(resolve)) : Promise.resolve();
}

/** Draw a text; at once where its tree is known, else as soon as it was read. */
export function draw(place, text, still, drawn) {
  const known = trees.get(text);
  if (known) {
    show(place, text, known);
    return;
  }
  const before = [...trees.keys()].reverse().find((one) => one && text.startsWith(one) && trees.get(one).nodes);
  if (!place.firstChild) {
    if (before) show(place, before, trees.get(before)); // as far as it was read
    else fill(place, written(text));
  }
  const same = queue.findIndex((one) => one.place === place);
  if (same >= 0) queue.splice(same, 1); // an older state of the same words
  queue.push({ place, text, still, drawn });
  next();
}

function next() {
  if (busy) return;
  const [first] = queue;
  if (!first) {
    idlers.splice(0).forEach((resolve) => resolve());
    return;
  }
  if (!first.still()) {
    queue.shift();
    next();
    return;
  }
  number += 1;
  busy = { id: number, text: first.text, timer: 0 };
  if (worker) limit();
  started().postMessage({ id: number, text: first.text });
}

function limit() {
  busy.timer = setTimeout(() => {
    worker.terminate();
    worker = null;
    done({ why: t("it takes too long to read") });
  }, PATIENCE);
}

function started() {
  if (worker) return worker;
  worker = new Worker("/static/markdown_worker.js", { type: "module" });
  worker.onmessage = ({ data }) => {
    if (data.ready && busy && !busy.timer) limit();
    if (data.id === busy?.id) done(data.nodes ? { nodes: data.nodes } : { why: data.why });
  };
  worker.onerror = () => {
    worker = null;
    if (busy) done({ why: t("the part of this page that reads Markdown is not there") });
  };
  return worker;
}

function done(tree) {
  clearTimeout(busy.timer);
  const { text } = busy;
  busy = null;
  trees.set(text, tree);
  if (trees.size > REMEMBERED) trees.delete(trees.keys().next().value);
  for (const one of queue.filter((waits) => waits.text === text)) {
    queue.splice(queue.indexOf(one), 1);
    if (!one.still()) continue;
    show(one.place, text, tree);
    one.drawn();
  }
  next();
}

const drawnAs = new WeakMap(); // a block's node -> what it was made of

function show(place, text, tree) {
  if (!tree.nodes) {
    fill(place, h("p", { class: "small" }, t("Shown as it was written: {why}.", { why: WHY[tree.why] ?? tree.why })), written(text));
    return;
  }
  const level = { last: 1 };
  let at = 0;
  for (const block of tree.nodes) {
    const made = JSON.stringify(block);
    const had = place.childNodes[at];
    if (had && drawnAs.get(had) === made) seen(block, level);
    else {
      const node = blockNode(block, level);
      drawnAs.set(node, made);
      if (had) had.replaceWith(node);
      else place.append(node);
    }
    at += 1;
  }
  while (place.childNodes[at]) place.childNodes[at].remove();
}

/** A heading that stays counts for the levels of those after it. */
function seen(block, level) {
  if (block.t === "h") level.last = levelOf(block.depth, level.last);
}

/** As it was written; the rest of what is very long comes when it is asked for. */
function written(text) {
  if (text.length <= FOLD) return paragraphs(text);
  const rest = text.length - FOLD;
  const more = h("button", { type: "button", class: "secondary small-button" },
    t("Show the other {rest} characters", { rest: rest.toLocaleString(locale) }));
  const start = h("div", { class: "as-written" }, text.slice(0, FOLD));
  more.onclick = () => {
    const whole = h("div", { class: "as-written", tabindex: "-1" }, text);
    start.replaceWith(whole);
    more.remove();
    whole.focus({ preventScroll: true });
  };
  return [start, more];
}

/** Beneath the page's own heading, and never a level left out. */
const levelOf = (depth, last) => Math.min(depth + 1, last + 1, 6);

function blockNode(block, level) {
  if (block.t === "h") {
    level.last = levelOf(block.depth, level.last);
    return h(`h${level.last}`, { dir: "auto" }, inlines(block.c));
  }
  if (block.t === "code") return codeBlock(block.text, block.lang);
  if (block.t === "hr") return h("hr");
  if (block.t === "quote") return h("blockquote", { dir: "auto" }, block.c.map((one) => blockNode(one, level)));
  if (block.t === "ul" || block.t === "ol") return list(block, level);
  if (block.t === "table") return table(block);
  return h("p", { dir: "auto" }, inlines(block.c));
}

function list(block, level) {
  const start = block.t === "ol" && block.start !== 1 ? block.start : null;
  return h(block.t, { start, dir: "auto" }, block.c.map((item) => {
    const tight = item.c.length > 0 && item.c[0].t === "p";
    const [first, ...rest] = item.c;
    return h("li", { dir: "auto" },
      item.done !== null && h("span", { class: "task" },
        h("span", { "aria-hidden": "true" }, item.done ? "☑ " : "☐ "), h("span", { class: "unseen" }, item.done ? t("Done: ") : t("To do: "))),
      tight ? [inlines(first.c), rest.map((one) => blockNode(one, level))] : item.c.map((one) => blockNode(one, level)));
  }));
}

function table(block) {
  const [head, ...rows] = block.c;
  const cell = (tag, content, n) => h(tag, {
    class: block.align[n] ? `to-${block.align[n]}` : null, scope: tag === "th" ? "col" : null, dir: "auto",
  }, inlines(content));
  return h("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": t("Table") },
    h("table", {},
      h("thead", {}, h("tr", {}, head.map((one, n) => cell("th", one, n)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((one, n) => cell("td", one, n)))))));
}

const TAGS = { b: "strong", i: "em", s: "del" };

function inlines(parts) {
  return parts.map((part) => {
    if (typeof part === "string") return part;
    if (part.t === "c") return h("code", {}, part.text);
    if (part.t === "a") return link(part.picture ? { ...part, c: [pictureWords(part.c[0])] } : part);
    return h(TAGS[part.t], {}, inlines(part.c));
  });
}

/** A picture is told, never fetched. */
const UNNAMED = t("without a name");
const pictureWords = (name) => t("Picture: {name}", { name: name || UNNAMED });

/** The words of a node, without what they look like. */
const wordsOf = (parts) => parts.map((part) => typeof part === "string" ? part : part.text ?? wordsOf(part.c)).join("");

function addressOf(href) {
  try {
    const url = new URL(href);
    return ["http:", "https:", "mailto:"].includes(url.protocol) ? url : null;
  } catch {
    return null;
  }
}

/**
 * A link in somebody else's words leads nowhere until it was touched twice: the first time it says
 * where it would lead, whole, and the second time it goes there. What is no address stays words.
 */
function link(part) {
  const url = addressOf(part.href);
  const words = wordsOf(part.c);
  if (!url) return h("span", {}, inlines(part.c), part.href && part.href !== words ? [" (", h("code", {}, part.href), ")"] : null);
  const host = url.host || url.pathname; // of a mail address, the address
  const says = words === part.href || words === host ? null : h("span", { class: "link-host" }, host);
  const place = h("span", { class: "outward" });
  const first = h("button", { type: "button", class: "link", "data-testid": "link" }, words || host, says && " ", says);
  first.onclick = () => {
    const open = h("a", { href: url.href, target: "_blank", rel: "noopener noreferrer", "data-testid": "link-open" }, t("Open {host}", { host }));
    fill(place, h("span", {}, words, " "), open, " ", h("code", {}, url.href));
    open.focus({ preventScroll: true });
    announce(t("Leads to {href}. Touch once more to open it.", { href: url.href }));
  };
  place.append(first);
  return place;
}
