/* The conversations as a list: begin one, go to one, rename it, put it away and bring it back. */

import { command, getJson, postJson } from "./api.js";
import { problemPlace, styled, trying } from "./asking.js";
import { button, fill, h, toast } from "./dom.js";
import { showAround } from "./history.js";
import { loadUntil, showRow } from "./said.js";
import { emit, keepOlder, keepRow, on, state, stirs, thinksHere } from "./state.js";
import { HERE } from "./talks.js";
import { atTime, dayOf } from "./time.js";
import { t } from "./words.js";

const pathOf = (id) => `/conversations/${encodeURIComponent(id || "first")}`;

let shown = null; // the list that is in the page now, and the conversations that were put away in it

export async function showConversations(place) {
  await styled();
  const list = h("ul", { class: "rows", "data-testid": "conversations" });
  const away = h("ul", { class: "rows" });
  const count = h("summary", {});
  const drawer = h("details", { "data-testid": "archived" }, count, away);
  const problem = problemPlace();
  const field = h("input", { type: "search", id: "talk-query", autocomplete: "off", dir: "auto" });
  const look = h("button", { class: "secondary" }, t("Search"));
  const missed = problemPlace();
  const many = h("p", { class: "small", role: "status" });
  const found = h("ul", { class: "rows", "data-testid": "found" });
  const search = h("form", { class: "field search", onsubmit: (event) => {
    event.preventDefault();
    trying([look], missed, async () => {
      const answer = await getJson(`/conversations/search?q=${encodeURIComponent(field.value)}`);
      fill(many, answer.found.length ? t("{found} found, the best first", { found: answer.found.length }) : t("Nothing that was said fits."));
      fill(found, answer.found.map(foundRow));
    }, field);
  } }, h("label", { for: "talk-query" }, t("Search all conversations")), h("div", { class: "with-button" }, field, look), missed);
  const fresh = button(t("New conversation"), () => trying([fresh], problem, async () => {
    const row = await postJson("/conversations");
    keepRow(state, row);
    await go(row.id);
  }), { class: "primary wide", "data-testid": "new-conversation" });
  const mine = { list, away, drawer, count, left: new Set() };
  shown = mine;
  fill(place, fresh, problem, list, drawer, search, many, found);
  draw(mine);
  try {
    for (const row of (await getJson("/conversations")).conversations) keepRow(state, row);
  } catch (error) {
    problem.textContent = error.message;
  }
  if (shown === mine) draw(mine);
}

on("conversations cards running all", () => { if (shown?.list.isConnected) draw(shown); });

/** One that is put away while somebody looks stays where it is: nothing moves under the finger. */
function draw({ list, away, drawer, count, left }) {
  const rows = state.conversations.filter((one) => !one.archived || left.has(one.id));
  const put = state.conversations.filter((one) => one.archived && !left.has(one.id));
  const open = new Set([...list.querySelectorAll("li")].filter((node) => node.querySelector("form")).map((node) => node.dataset.id));
  const had = new Map([...list.children].map((node) => [node.dataset.id, node]));
  const nodes = rows.map((row) => {
    const now = JSON.stringify([row, stirs(state, row.id), row.id === state.conversation]);
    const before = had.get(row.id || "first");
    if (before && (before.dataset.drawn === now || open.has(before.dataset.id))) return before;
    return item(row, now, left);
  });
  if (nodes.some((node, n) => list.children[n] !== node) || list.children.length !== nodes.length) {
    const focus = document.activeElement?.closest?.("li")?.dataset.id;
    const inside = list.contains(document.activeElement);
    fill(list, ...nodes);
    if (inside) [...list.children].find((node) => node.dataset.id === focus)?.querySelector("button")?.focus({ preventScroll: true });
  }
  drawer.hidden = !put.length;
  fill(count, t("Archived ({put})", { put: put.length }));
  fill(away, put.map((row) => h("li", { class: "row" }, h("span", { dir: "auto" }, row.title), back(row, left))));
}

function item(row, now, left) {
  const here = row.id === state.conversation;
  const node = h("li", { class: "talk", "data-testid": "conversation" });
  node.dataset.id = row.id || "first";
  node.dataset.drawn = now;
  if (row.archived) {
    fill(node, h("p", { class: "row" }, h("span", { dir: "auto" }, t("“{title}” was archived. Nothing of it is deleted.", { title: row.title })), back(row, left, t("Undo"))));
    return node;
  }
  const foot = h("div", { class: "row-foot" });
  const change = button(t("Change"), () => changing(row, foot, left), { class: "quiet", "aria-label": t("Change {title}", { title: row.title }), "data-testid": "change" });
  const open = button("", () => go(row.id), { class: "talk-open", "data-testid": "open" });
  if (here) open.setAttribute("aria-current", "true");
  const when = row.said_at ? `${dayOf(row.said_at)}, ${atTime(row.said_at)}` : t("Nothing was said yet");
  fill(open, h("b", { dir: "auto" }, row.title), h("span", { class: "small" }, [when, ...stirs(state, row.id)].join(" · ")));
  fill(node, h("div", { class: "talk-row" }, open, change), foot);
  return node;
}

function back(row, left, label = t("Bring back")) {
  const problem = problemPlace();
  const again = button(label, () => trying([again], problem, async () => {
    const restored = await postJson(`${pathOf(row.id)}/restore`);
    left.delete(row.id);
    keepRow(state, restored);
    draw(shown);
    focusOn(row.id, "button");
  }), { class: "secondary small-button", "aria-label": `${label}: ${row.title}` });
  return h("span", {}, again, problem);
}

/** Its title to be changed, and a way to put it away. */
function changing(row, foot, left) {
  if (foot.firstChild) {
    fill(foot);
    return;
  }
  const problem = problemPlace();
  const field = h("input", { id: `title-${row.id}`, type: "text", autocomplete: "off", dir: "auto", value: row.title });
  const save = h("button", { class: "primary small-button" }, t("Save"));
  const away = row.id && button(t("Archive"), () => trying([away], problem, async () => {
    const put = await postJson(`${pathOf(row.id)}/archive`);
    left.add(row.id);
    fill(foot);
    keepRow(state, put);
    if (row.id === state.conversation) await enter("");
    toast(t("“{title}” was archived.", { title: put.title }));
    draw(shown);
    focusOn(row.id, "button");
  }), { class: "quiet danger", "data-testid": "archive" });
  const gone = row.id && button(t("Delete"), () => trying([gone], problem, async () => {
    const { words } = await getJson(`${pathOf(row.id)}/deletion`);
    const sure = button(t("Delete for good"), () => trying([sure], problem, async () => {
      const done = await command(`${pathOf(row.id)}/delete`, "delete_conversation", row.id);
      keepRow(state, { ...row, deleted: true });
      if (row.id === state.conversation) await enter("");
      toast(done.words);
      draw(shown);
      shown.list.querySelector("button")?.focus({ preventScroll: true });
    }), { class: "secondary danger", "data-testid": "delete-sure" });
    const keep = button(t("Keep it"), () => fill(foot), { class: "secondary small-button" });
    fill(foot, h("form", { class: "field", "aria-label": t("Delete {title}", { title: row.title }), onsubmit: (event) => event.preventDefault() },
      h("p", { dir: "auto", "data-testid": "delete-question" }, words), problem, h("div", { class: "controls" }, keep, sure)));
    keep.focus();
  }), { class: "quiet danger", "data-testid": "delete" });
  const files = button(t("Files"), () => trying([files], problem, async () => {
    const { fileList } = await import("./attach.js");
    foot.firstChild.append(await fileList(row.id || "first"));
    files.hidden = true;
  }), { class: "quiet", "data-testid": "show-files" });
  fill(foot, h("form", { class: "field", onsubmit: (event) => {
    event.preventDefault();
    trying([save], problem, async () => {
      const renamed = await postJson(`${pathOf(row.id)}/rename`, { title: field.value });
      fill(foot);
      keepRow(state, renamed);
      draw(shown);
      focusOn(row.id, "[data-testid=change]");
    }, field);
  } }, h("label", { for: field.id }, t("Title")), field, problem, h("div", { class: "row-actions" }, save, away, gone,
    files, saving(row, "markdown", t("Save as Markdown"), problem), saving(row, "json", t("Save as JSON"), problem))));
  field.focus();
  field.select();
}

/** A message that fits: where, when, whose, and a way to it. */
function foundRow(one) {
  const id = one.conversation === "first" ? "" : one.conversation;
  const who = `${one.who === "silas" ? "Silas" : "You"}${one.external ? ", from outside" : ""}`;
  const open = button("", () => go(id, one), { class: "talk-open", "data-testid": "jump" });
  fill(open, h("b", { dir: "auto" }, one.title), h("span", { class: "small" }, `${dayOf(one.at)}, ${atTime(one.at)} · ${who}${one.archived ? " · archived" : ""}`),
    h("span", { class: "excerpt", dir: "auto" }, one.excerpt));
  return h("li", {}, open);
}

/** A file of what was said in it, for the owner's own keeping. */
function saving(row, form, label, problem) {
  const go = button(label, () => trying([go], problem, async () => {
    const { name, document: text } = await getJson(`${pathOf(row.id)}/export?format=${form}`);
    const url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    const link = h("a", { href: url, download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  }), { class: "quiet", "data-testid": `export-${form}` });
  return go;
}

/** What somebody was at is drawn anew; the hands stay where they are. */
function focusOn(id, part) {
  const node = [...shown.list.children].find((one) => one.dataset.id === (id || "first"));
  node?.querySelector(part)?.focus({ preventScroll: true });
}

async function go(id, found = null) {
  const there = new Promise((resolve) => { addEventListener("hashchange", resolve, { once: true }); });
  const entered = enter(id);
  location.hash = "#/stream"; // at once: who goes elsewhere while it loads stays there
  await entered;
  if (found) {
    await there; // only what is shown can be scrolled to
    await reach(found.at, found.who);
    return;
  }
  const field = document.getElementById("say");
  if (matchMedia("(pointer: fine)").matches) requestAnimationFrame(() => field.focus());
}

/** Turn to another conversation, of which nothing is there yet; gives the way back. */
function leaveFor(at, id) {
  const had = { conversation: at.conversation, transcript: at.transcript, complete: at.complete };
  Object.assign(at, { conversation: id, transcript: [], complete: true, loading: true });
  at.unread.delete(id);
  showAround();
  at.thinking = thinksHere(at);
  return () => {
    Object.assign(at, had);
    at.thinking = thinksHere(at);
  };
}

/** Show another conversation: at once, and what was said in it as soon as it has come. */
export async function enter(id) {
  if (id === state.conversation) return;
  const back = leaveFor(state, id);
  sessionStorage.setItem(HERE, id);
  emit("all", "stream", "conversations");
  try {
    const answer = await getJson(`/transcript?before=${state.seq + 1}&last=50&conversation=${encodeURIComponent(id || "first")}`);
    if (state.conversation !== id) return; // somebody went on meanwhile
    keepOlder(state, answer.transcript, !answer.complete);
  } catch (error) {
    if (state.conversation === id) back();
    sessionStorage.setItem(HERE, state.conversation);
    toast(error.message);
  }
  state.loading = false;
  emit("all", "stream", "conversations");
}

/** Bring what somebody said at a moment into view, with what was said before it as far as that takes. */
async function reach(at, who) {
  const moment = new Date(at).getTime();
  const time = (one) => new Date(one.timestamp).getTime();
  await loadUntil(() => time(state.transcript[0] ?? { timestamp: at }) < moment);
  const nearest = state.transcript
    .filter((one) => one.type === "message" && (one.sender === "silas") === (who === "silas"))
    .sort((a, b) => Math.abs(time(a) - moment) - Math.abs(time(b) - moment))[0];
  if (nearest) showRow(`m${nearest.id}`);
}
