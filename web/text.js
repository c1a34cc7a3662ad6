/* What Silas says, as one can read it. Plain words are drawn at once; what has Markdown in it is
   drawn by a module that is fetched when it is first needed (`markdown.js`). */

import { fill, h, named } from "./dom.js";

const MARKED = /[*_[\]<>#|~&\\]|```|^ {0,3}\d+[.)] |^(?: {4}|\t)|^ {0,3}(?:-{2,}|=+)\s*$|https?:\/\/|www\./m;
const wanted = new WeakMap(); // the words that a place shows or is about to show
/** @type {any} */
let module = null;

/**
 * Draw what Silas said into a place that keeps what did not change of it.
 * @param {() => void} [drawn] called when words that had to wait for their module are there
 */
export function drawWords(place, text, drawn = () => undefined) {
  if (wanted.get(place) === text) return;
  wanted.set(place, text);
  if (!MARKED.test(text)) {
    fill(place, paragraphs(text));
    return;
  }
  if (module?.draw) {
    module.draw(place, text, () => wanted.get(place) === text, drawn);
    return;
  }
  if (!place.firstChild) fill(place, paragraphs(text));
  soon();
  module.waits.then((loaded) => {
    module = loaded;
    if (wanted.get(place) === text) loaded.draw(place, text, () => wanted.get(place) === text, drawn);
  }, () => { module = null; }); // it stays as it was written until the next words ask again
}

/** Words without any form. */
export function drawAsWritten(place, text) {
  if (wanted.get(place) === text) return;
  wanted.set(place, text);
  fill(place, text);
}

/** Fetch the module before its words are there. */
export function soon() {
  if (module) return;
  const waits = import("./markdown.js");
  waits.catch(() => { if (module?.waits === waits) module = null; }); // no connection: asked for again
  module = { waits };
}

/** When every word that is asked for has its form: nothing moves after it was seen. */
export async function settled() {
  const loaded = module?.waits ? await module.waits.catch(() => null) : module;
  await loaded?.idle();
}

/** Text with blank lines between paragraphs; what stands between fences is kept as it is. */
export function paragraphs(text) {
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
