/* Files that are attached to a conversation: signed here with their digests, sent as they are. */

import { command, getBlob, getJson, pageToken, Problem } from "./api.js";
import { styled } from "./asking.js";
import { canonicalJson, hex } from "./canonical.js";
import { button, fill, h, toast } from "./dom.js";
import { emit, on, state } from "./state.js";
import { locale, t } from "./words.js";

const LARGEST = 25_000_000; // bytes, as `attachments.py` has it
const KEPT = "silas.attached"; // of this tab and conversation, until they are sent

const here = () => state.conversation || "first";
const megabytes = (size) => `${(size / 1e6).toLocaleString(locale, { maximumFractionDigits: size < 1e7 ? 1 : 0 })} MB`;
const inBytes = (size) => (size < 1e5 ? t("{size} bytes", { size: size.toLocaleString(locale) }) : megabytes(size));
const filesOf = (id) => `/conversations/${encodeURIComponent(id)}/attachments`;

const list = h("ul", { class: "files", "aria-label": t("Attached files"), "data-testid": "attaching" });
const form = () => document.querySelector(".composer");
const say = (words) => fill(form().querySelector("[role=alert]"), words);
let shownOf = "";

/** Let the owner choose files. */
export function pick() {
  const field = h("input", { type: "file", multiple: true, onchange: () => take([...field.files]) });
  field.click();
}

/** Attach files, one after the other; what cannot be attached is said, and nothing of it is sent. */
export async function take(files) {
  say("");
  await styled();
  for (const file of files) {
    if (file.size > LARGEST) {
      say(t("{name} has {megabytes}, and a file of at most {megabytes2} can be attached; put it into the workspace and name it in your message.", { name: file.name, megabytes: megabytes(file.size), megabytes2: megabytes(LARGEST) }));
      continue;
    }
    const one = { name: file.name || "file", size: file.size, id: "", conversation: state.conversation };
    change([...state.attached, one]);
    try {
      Object.assign(one, await sent(file, here()));
    } catch (error) {
      say(error instanceof Problem ? error.message : t("{name} cannot be read here; a folder is attached file by file.", { name: one.name }));
      change(state.attached.filter((other) => other !== one));
      continue;
    }
    change([...state.attached]);
  }
}

async function sent(file, conversation) {
  if (!crypto.subtle) throw new Problem(0, "E_NO_KEY", t("Files are attached over HTTPS or on Silas's own machine, where this browser can sign them."));
  const digest = hex(new Uint8Array(await crypto.subtle.digest("SHA-256", await file.arrayBuffer())));
  const told = { name: file.name || "file", size: file.size, digest };
  const row = await command(filesOf(conversation), "attach", canonicalJson({ ...told, conversation }), told);
  let response;
  try {
    response = await fetch(`/attachments/${row.id}/content`, {
      method: "POST", body: file, cache: "no-store", credentials: "same-origin",
      headers: { "X-Silas-Page": pageToken(), "Content-Type": "application/octet-stream" },
    });
  } catch {
    throw new Problem(0, "E_OFFLINE", t("{name} did not arrive, because Silas cannot be reached just now; attach it once more.", { name: row.name }));
  }
  const answer = await response.json();
  if (!response.ok) throw new Problem(response.status, answer.code, answer.message);
  return answer;
}

/** Names that were attached before, to a message that is asked again. */
export async function again(names) {
  await styled();
  change(names.map((name) => ({ name, size: 0, id: "before", conversation: state.conversation })));
}

/** What was attached and not sent yet when the tab was reloaded, or another conversation shown. */
export function restore() {
  if (shownOf === here()) return;
  shownOf = here();
  const kept = JSON.parse(sessionStorage.getItem(`${KEPT}.${shownOf}`) ?? "[]");
  styled().then(() => change(kept));
}

function change(files) {
  state.attached = files;
  shownOf = here();
  const there = files.filter((one) => one.id);
  if (there.length) sessionStorage.setItem(`${KEPT}.${shownOf}`, JSON.stringify(there));
  else sessionStorage.removeItem(`${KEPT}.${shownOf}`);
  emit("attached");
}

function draw() {
  if (!list.isConnected) form().querySelector("[role=alert]").after(list);
  list.hidden = !state.attached.length;
  fill(list, state.attached.map((one) => h("li", {}, h("span", { dir: "auto" }, one.name),
    h("span", { class: "small" }, one.id ? one.size > 0 && inBytes(one.size) : t("sending …")),
    one.id && button("×", () => drop(one), { class: "icon-button", "aria-label": t("Do not send {name}", { name: one.name }) }))));
  if (!state.attached.length) sessionStorage.removeItem(`${KEPT}.${here()}`);
}

async function drop(one) {
  change(state.attached.filter((other) => other !== one));
  document.getElementById("say").focus();
  if (one.id === "before") return; // another message has it
  try {
    await removed(one);
  } catch (error) {
    toast(error.message);
  }
}

const removed = (one) => command(`/attachments/${one.id}/remove`, "remove_attachment", one.id);

on("attached", draw);
on("all", restore);

const known = new Map(); // conversation -> its files by name

async function rowsOf(conversation) {
  const { attachments } = await getJson(filesOf(conversation));
  known.set(conversation, new Map(attachments.map((one) => [one.name, one])));
  return attachments;
}

/** The files that a message names, under its words. */
export async function showFiles(node, names) {
  await styled();
  const conversation = here();
  const place = node.querySelector(".files") ?? h("ul", { class: "files", "data-testid": "attached" });
  if (place.dataset.shown === names.join("/")) return;
  place.dataset.shown = names.join("/");
  fill(place, names.map((name) => h("li", { dir: "auto" }, name)));
  node.querySelector(".text").after(place);
  try {
    if (!names.every((name) => known.get(conversation)?.has(name))) await rowsOf(conversation);
  } catch {
    return; // the names are there, and are all that can be shown now
  }
  fill(place, names.map((name) => fileItem(known.get(conversation)?.get(name) ?? { name, size: 0, removed: true })));
  await Promise.all(names.map((name, n) => showPicture(place.children[n], known.get(conversation)?.get(name))));
}

const pictures = new Map(); // id -> the address of a picture that was made anew, empty for none

/** A picture above its name, made anew by Silas; everything else stays a file. */
async function showPicture(item, one) {
  if (!one || one.removed || !/\.(png|jpe?g|gif|webp)$/i.test(one.name)) return;
  if (!pictures.has(one.id)) {
    pictures.set(one.id, getBlob(`/attachments/${one.id}/picture`).then((made) => URL.createObjectURL(made), (error) => error.message));
  }
  const found = await pictures.get(one.id);
  if (found.startsWith("blob:")) item.prepend(h("img", { src: found, alt: one.name, class: "picture" }));
  else item.append(h("span", { class: "small" }, found));
}

function fileItem(one) {
  if (one.removed) return h("li", {}, h("span", { dir: "auto" }, one.name), h("span", { class: "small" }, t("removed")));
  return h("li", {}, button(one.name, () => save(one), { class: "link", "aria-label": t("Save {name}", { name: one.name }) }),
    h("span", { class: "small" }, inBytes(one.size)));
}

async function save(one) {
  try {
    const url = URL.createObjectURL(await getBlob(`/attachments/${one.id}/content`));
    h("a", { href: url, download: one.name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  } catch (error) {
    toast(error instanceof Problem ? error.message : t("Silas cannot be reached just now."));
  }
}

/** The files of a conversation, each with a way to save and to remove it. */
export async function fileList(conversation) {
  const place = h("ul", { class: "files all-files", "data-testid": "files" });
  const rows = (await rowsOf(conversation)).filter((one) => !one.removed);
  fill(place, rows.length ? rows.map((one) => {
    const item = fileItem(one);
    item.append(button(t("Remove"), async () => {
      try {
        await removed(one);
        item.remove();
        known.delete(conversation);
        change(state.attached.filter((other) => other.id !== one.id));
        toast(t("{name} was removed.", { name: one.name }));
      } catch (error) {
        toast(error.message);
      }
    }, { class: "quiet danger", "aria-label": t("Remove {name}", { name: one.name }) }));
    return item;
  }) : h("li", { class: "small" }, t("No files are attached.")));
  return place;
}
