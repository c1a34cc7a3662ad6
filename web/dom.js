/* Nodes and text only: no text of anybody's is ever read as markup. */

const SVG = "http://www.w3.org/2000/svg";

// Controls, characters without a width and those that turn text around. The server marks them where
// something is decided; this is for everything else. Joiners stay: scripts and emoji need them.
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/** The text with everything in it visible: `<U+202E>` stands where a reader would see nothing. */
export function visible(text) {
  return String(text).replace(HIDDEN, (c) =>
    `<U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}>`);
}

/** `h("p", {class: "note", onclick: f}, "text", child, null)`. */
export function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) set(node, name, value);
  add(node, children);
  return node;
}

export function set(node, name, value) {
  if (value === undefined || value === null || value === false) node.removeAttribute(name);
  else if (name.startsWith("on")) node[name] = value;
  else if (name === "value" || name === "checked" || name === "indeterminate") node[name] = value;
  else node.setAttribute(name, value === true ? "" : String(value));
}

export function add(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : visible(child));
  }
  return node;
}

export function fill(node, ...children) {
  node.replaceChildren();
  return add(node, children);
}

const PATHS = {
  stream: "M4 6h16M4 12h11M4 18h14",
  talks: "M4 5h12v8H8l-4 3zM8 17h8l4 3v-9h-2",
  review: "M5 4h14v16H5zM9 12.5l2.2 2.2L15.5 10",
  activity: "M12 7v5l3.2 2M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17z",
  more: "M4 7h16M4 12h16M4 17h16",
  send: "M12 19V5M6 11l6-6 6 6",
  clip: "M8 12.5l6-6a3 3 0 0 1 4.5 4.5l-8 8a5 5 0 0 1-7-7l7.5-7.5",
  close: "M6 6l12 12M18 6L6 18",
  back: "M15 5l-7 7 7 7",
  next: "M9 5l7 7-7 7",
  check: "M5 12.5l4.5 4.5L19 7.5",
  cross: "M7 7l10 10M17 7L7 17",
  stop: "M8.3 3.5h7.4l4.8 4.8v7.4l-4.8 4.8H8.3l-4.8-4.8V8.3z",
  alert: "M12 4.5l8.5 15h-17zM12 10.5v4M12 17v.2",
  arrow: "M5 12h14M13 6l6 6-6 6",
  undo: "M9 7L4.5 11.5 9 16M5 11.5h8.5a5 5 0 0 1 0 10H12",
  shield: "M12 3.5l7 2.8v5.2c0 4.4-2.9 7.6-7 9-4.1-1.4-7-4.6-7-9V6.3z",
  key: "M14.5 9.5a4 4 0 1 1-3.4-3.9 4 4 0 0 1 3.4 3.9zM13.6 12.4L20 18.8M17 15.8l2-2",
  person: "M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4.5 20.5a7.5 7.5 0 0 1 15 0",
  tool: "M14.5 6a4.5 4.5 0 0 0-5.9 5.6L3.8 16.4a2 2 0 0 0 2.9 2.9l4.9-4.8A4.5 4.5 0 0 0 17.4 9l-2.7 2.7-2.4-2.4z",
  work: "M4 8h16v11H4zM9 8V5h6v3M4 13h16",
  memory: "M6 4h12v16l-6-3.5L6 20z",
  device: "M7 3.5h10v17H7zM11 17.8h2",
  settings: "M4 7h9M17 7h3M4 17h3M11 17h9M15 4.8v4.4M9 14.8v4.4",
};

const ALONG = ["stream", "talks", "back", "next", "arrow", "undo"]; // these go the way of the line

export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", ALONG.includes(name) ? "icon along" : "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}

export function button(label, onclick, props = {}) {
  return h("button", { type: "button", onclick, ...props }, label);
}

/**
 * Make a container hold one node per item, in order, touching only what changed.
 * `make(item)` builds a node, `update(node, item)` refreshes one that is there already.
 * @param {(node: any, item: any) => void} [update]
 */
export function keyed(container, items, keyOf, make, update = () => {}) {
  const had = new Map([...container.children].map((node) => [node.dataset.key, node]));
  let before = null;
  for (const item of items) {
    const key = String(keyOf(item));
    let node = had.get(key);
    if (node) update(node, item);
    else {
      node = make(item);
      node.dataset.key = key;
    }
    had.delete(key);
    const place = before ? before.nextSibling : container.firstChild;
    if (place !== node) container.insertBefore(node, place);
    before = node;
  }
  for (const node of had.values()) node.remove();
}

let polite;

/** Say something to whoever listens instead of looking. */
export function announce(text) {
  polite ??= document.getElementById("live");
  if (!polite) return;
  polite.textContent = "";
  requestAnimationFrame(() => { polite.textContent = visible(text).replace(/\*\*|`/g, ""); });
}

/** What happened, for a moment; `go` leads to it. */
export function toast(text, /** @type {{ label: string, act: () => void } | null} */ go = null) {
  announce(text);
  const place = document.getElementById("toasts");
  const note = h("div", { class: "toast", "aria-hidden": go ? null : "true" }, text,
    go && button(go.label, () => { note.remove(); go.act(); }, { class: "toast-go", "data-testid": "toast-go" }));
  place.replaceChildren(note);
  setTimeout(() => note.remove(), go ? 12000 : 4500);
}

/** A line with what stands in backticks in a type of its own. */
export function named(line) {
  return line.split(/(`[^`]*`)/).map((piece) =>
    piece.length > 2 && piece.startsWith("`") && piece.endsWith("`")
      ? h("code", {}, piece.slice(1, -1)) : piece);
}

/** Stands where something is fetched. */
export function skeleton() {
  return h("div", { class: "skeleton", "aria-hidden": "true" }, h("i"), h("i"), h("i"));
}
