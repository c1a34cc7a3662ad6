/* Everything that is not every day's: what is ahead, work items, reminders, memory, tools, secrets, devices, settings, protection. */

import { getJson } from "./api.js";
import { button, fill, h, icon, named, skeleton } from "./dom.js";
import { plain } from "./extras.js";
import { now } from "./keys.js";
import { inFull } from "./time.js";
import { t } from "./words.js";

/** @type {[string, string, string, string, (place: any, rest: any) => any][]} */
export const PLACES = [
  ["ahead", "activity", t("Ahead"), t("What is to come, and what may run without asking"),
    async (place) => (await import("./ahead.js")).showAhead(place)],
  ["work", "work", t("Work"), t("Everything Silas was asked to do, and what came of it"),
    async (place, rest) => (await import("./work.js")).showWork(place, rest)],
  ["batches", "work", t("Moved files"), t("What Silas tidied, and the way back"),
    async (place) => (await import("./batches.js")).showBatches(place)],
  ["reminders", "stream", t("Reminders"), t("What you want to be told, and when"),
    async (place) => (await import("./reminders.js")).showReminders(place)],
  ["memory", "memory", t("Memory"), t("What Silas remembers, and how far it trusts it"),
    async (place) => (await import("./memory.js")).showMemory(place)],
  ["speech", "stream", t("How Silas speaks"), t("Its tone, and telling it what was wrong with it"),
    async (place) => (await import("./speech.js")).showSpeech(place)],
  ["tools", "tool", t("Tools"), t("What Silas can use, and whether it works"), showTools],
  ["connections", "talks", t("Connections"), t("Servers of tools and channels, and how they fare"),
    async (place) => (await import("./connections.js")).showConnections(place)],
  ["devices", "device", t("Devices"), t("Which browsers may speak for you"),
    async (place) => (await import("./devices.js")).showDevices(place)],
  ["secrets", "key", t("Secrets"), t("Keys and passwords that tools may be given"),
    async (place) => (await import("./secrets.js")).showSecrets(place)],
  ["settings", "settings", t("Settings"), t("How this page looks, what you can change, and what is in force"),
    async (place) => (await import("./settings.js")).showSettings(place)],
  ["protection", "shield", t("What protects you"), t("Each part of it, checked now"), showProtection],
  ["answering", "talks", t("Who answers"), t("Which model, with which key or at which server"),
    async (place) => (await import("./answering.js")).showAnswering(place)],
  ["setup", "person", t("Who you are"), t("What Silas knows of you"),
    async (place) => (await import("./setup.js")).showSetup(place)],
];

export async function showMore(place, [name, ...rest]) {
  const found = PLACES.find(([id]) => id === name);
  document.getElementById("more-title").textContent = found?.[2] ?? t("More");
  if (!found) return showMenu(place);
  const [, , title, , show] = found;
  const inside = h("div", { class: "page-body" });
  fill(place, h("a", { class: "back", href: rest.length ? `#/more/${name}` : "#/more" }, icon("back"), rest.length ? title : t("More")), inside);
  fill(inside, skeleton());
  try {
    await show(inside, rest);
  } catch (error) {
    fill(inside, h("p", { class: "problem", role: "alert" }, error.message),
      button(t("Try again"), () => showMore(place, [name, ...rest]), { class: "secondary" }));
  }
  return undefined;
}

function showMenu(place) {
  fill(place, h("ul", { class: "menu" }, PLACES.map(([id, sign, title, words]) =>
    h("li", {}, h("a", { href: `#/more/${id}` }, icon(sign),
      h("span", {}, h("b", {}, title), h("span", { class: "small" }, words)), icon("next"))))));
}

const HEALTH = { healthy: t("Works"), degraded: t("Works, with trouble"), unavailable: t("Does not work now") };

const RISK = { low: t("Low risk"), medium: t("Medium risk"), high: t("High risk"), irreversible: t("Cannot be undone") };

const SCOPES = { "sandbox.execute": t("run in the sandbox"), "workspace.look": t("look into the folder") };

async function showTools(place) {
  const [tools, workers] = await Promise.all([getJson("/tools"), getJson("/workers")]);
  fill(place,
    tools.length ? h("ul", { class: "rows" }, tools.map((tool) => h("li", { class: "row tall" },
      h("p", { class: "row-head" }, h("b", { dir: "auto" }, tool.title), health(tool.health)),
      h("p", { class: "small" }, tool.title !== tool.name && [h("code", {}, tool.name), " · "], [RISK[tool.risk] ?? "", tool.scopes.length && t("may: {scopes}", { scopes: tool.scopes.map((one) => SCOPES[one] ?? one).join(", ") })].filter(Boolean).join(" · ")),
      tool.last_error && h("p", { class: "small warning-text", dir: "auto" }, named(tool.last_error)))))
      : h("p", {}, t("There are no tools.")),
    h("h2", { class: "label-title" }, t("Workers")),
    workers.length ? h("ul", { class: "rows" }, workers.map((worker) => h("li", { class: "row tall" },
      h("p", { class: "row-head" }, h("b", {}, worker.name), worker.fault ? health("unavailable", t("Cannot be used")) : null),
      h("p", { class: "small", dir: "auto" }, worker.fault || worker.description),
      worker.tools.length ? h("p", { class: "small" }, t("Uses: {worker}", { worker: worker.tools.join(", ") })) : null)))
      : h("p", { class: "small" }, t("You have no workers of your own.")));
}

function health(state, words = HEALTH[state] ?? state) {
  return h("span", { class: "health", "data-health": state }, h("span", { class: "dot", "aria-hidden": "true" }), words);
}

const STANDING = { ok: t(": well"), advice: t(": well, with advice"), failed: t(": not well") };

async function showProtection(place) {
  const doctor = await getJson("/doctor");
  const showing = h("section", {}), witness = h("section", {});
  fill(place, h("p", { class: "verdict", "data-ok": String(doctor.ok) }, icon(doctor.ok ? "shield" : "alert"),
    named(doctor.words)),
  h("ul", { class: "rows findings" }, doctor.findings.map((one) => h("li", { class: "row tall", "data-ok": String(one.ok), "data-state": one.state },
    h("p", { class: "row-head" }, icon(one.state === "ok" ? "check" : "alert"), h("b", {}, plain(one.part)), h("span", { class: "unseen" }, STANDING[one.state])),
    h("p", { class: "small", dir: "auto" }, named(one.words))))),
  witness,
  showing,
  h("h2", { class: "label-title" }, t("How you are protected")),
  h("ul", { class: "plainlist" }, PROMISES.map((words) => h("li", {}, words))),
  h("p", { class: "small" }, t("Checked {inFull}.", { inFull: inFull(now()) })));
  (await import("./witness.js")).showWitness(witness);
  await (await import("./showing.js")).showShowing(showing);
}

const PROMISES = [
  t("Nothing runs that you have not approved, and what runs is what was on the card: to the letter."),
  t("Your yes is signed by this device. The key never leaves it, and no page elsewhere can use it."),
  t("Work happens in a sealed room that sees only what the plan names."),
  t("What was done is checked from outside before you are told that it is done."),
  t("Changes to your files can be taken back."),
  t("Everything is written down in a record that cannot be changed unnoticed."),
];


