/* Hands on the keyboard: the list of keys, the palette, and what each key does. No key answers a card
   that has not the focus, and none does more than the first step of its gesture. */

import { button, fill, h, toast } from "./dom.js";
import { PLACES } from "./more.js";
import { t } from "./words.js";

const SINGLE = "silas.keys"; // "off" where somebody wants no keys without Ctrl

const KEYS = [
  [t("Ctrl"), "K", t("Go anywhere, by typing part of its name")],
  ["", "/", t("Write to Silas")],
  ["", "r", t("Go to the card that waits")],
  ["", "a", t("On the focused card: begin to approve, as its first button does")],
  ["", "d", t("On the focused card: say no")],
  ["", "?", t("Show these keys")],
  ["", "Esc", t("Close what lies over the Stream")],
];

/** What a key press does; the caller has seen that nobody is writing. */
export function press(key) {
  if (key === "palette") return palette();
  if (key === "?") return listKeys();
  if (localStorage.getItem(SINGLE) === "off") return undefined;
  return { "/": write, r: toCard, a: () => onCard("recommended"), d: () => onCard("decline") }[key]?.();
}

const card = () => /** @type {HTMLElement | null} */ (document.querySelector("[data-testid=active-card]"));

function go(hash, then) {
  if (location.hash === hash) return then();
  addEventListener("hashchange", () => requestAnimationFrame(() => then()), { once: true });
  location.hash = hash;
  return undefined;
}

function write() {
  const field = document.getElementById("say");
  if (field.checkVisibility() && !field.closest("[inert]")) field.focus();
  else go("#/stream", () => field.focus());
}

function toCard() {
  if (!card()) return toast(t("No card waits for you."));
  return go("#/review", () => /** @type {HTMLElement} */ (card()?.querySelector(".intent"))?.focus());
}

/** The first tap of an action, on the card that has the focus and on no other. */
function onCard(role) {
  const here = card();
  if (!here?.contains(document.activeElement)) return;
  /** @type {HTMLElement} */ (here.querySelector(`[data-testid=action-${role}]`))?.click();
}

function dialog(name, ...children) {
  const back = /** @type {HTMLElement | null} */ (document.activeElement);
  const node = h("dialog", { class: "stop-dialog hands", "aria-label": name, "data-testid": "hands" }, ...children);
  node.onclick = (event) => { if (event.target === node) node.close(); };
  node.onclose = () => {
    node.remove();
    if (document.activeElement === document.body) back?.focus?.();
  };
  document.body.append(node);
  node.showModal();
  return node;
}

function listKeys() {
  const on = h("input", { id: "single-keys", type: "checkbox", checked: localStorage.getItem(SINGLE) !== "off",
    onchange: () => localStorage.setItem(SINGLE, on.checked ? "on" : "off") });
  const node = dialog(t("Keys"), h("h2", {}, t("Keys")),
    h("dl", { class: "keys" }, KEYS.map(([with_, key, words]) => h("div", {},
      h("dt", {}, with_ && [h("kbd", {}, with_), " "], h("kbd", {}, key)), h("dd", {}, words)))),
    h("label", { class: "toggle" }, on, t("Keys without Ctrl")),
    button(t("Close"), () => node.close(), { class: "secondary" }));
}

const SURFACES = [["stream", t("Stream")], ["conversations", t("Conversations")], ["review", t("Review")], ["activity", t("Activity")], ["more", t("More")]];

function everywhere() {
  return [
    { words: t("Write to Silas"), act: write },
    { words: t("The card that waits"), act: toCard },
    ...SURFACES.map(([id, words]) => ({ words, act: () => { location.hash = `#/${id}`; } })),
    ...PLACES.map(([id, , words, about]) => ({ words, about, act: () => { location.hash = `#/more/${id}`; } })),
    { words: t("Stop everything"), act: () => /** @type {HTMLElement} */ (document.querySelector("[data-testid=stop]"))?.click() },
    { words: t("Keys"), act: listKeys },
  ];
}

function palette() {
  const all = everywhere();
  let found = all;
  let at = 0;
  const list = h("ul", { id: "hands-list", role: "listbox", "aria-label": t("Places") });
  const field = h("input", { type: "text", role: "combobox", "aria-expanded": "true", "aria-controls": "hands-list",
    "aria-autocomplete": "list", "aria-label": t("Go to"), placeholder: t("Go to …"), autocomplete: "off", spellcheck: "false", dir: "auto" });
  const take = (one) => {
    node.close();
    one?.act();
  };
  const draw = () => {
    fill(list, found.map((one, n) => h("li", { id: `hands-${n}`, role: "option", "aria-selected": String(n === at), onclick: () => take(one) },
      h("b", {}, one.words), one.about && h("span", { class: "small block" }, one.about))));
    fill(none, found.length ? "" : t("Nothing has that name."));
    if (found.length) field.setAttribute("aria-activedescendant", `hands-${at}`);
    else field.removeAttribute("aria-activedescendant");
    list.children[at]?.scrollIntoView({ block: "nearest" });
  };
  field.oninput = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    found = all.filter((one) => words.every((word) => `${one.words} ${one.about ?? ""}`.toLowerCase().includes(word)));
    at = 0;
    draw();
  };
  field.onkeydown = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && found.length) at = (at + step + found.length) % found.length;
    else if (event.key === "Enter" && !event.isComposing) return take(found[at]);
    else return undefined;
    event.preventDefault();
    return draw();
  };
  const none = h("p", { class: "small", role: "status" });
  const node = dialog(t("Go to"), field, none, list);
  draw();
  field.focus();
}
