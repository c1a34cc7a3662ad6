/* Settings under More: how this page looks, what can be changed, and what is in force. */

import { canonicalJson } from "./canonical.js";
import { command, getJson, postJson } from "./api.js";
import { problemPlace, styled, trying } from "./asking.js";
import { button, fill, h, toast } from "./dom.js";
import { plain } from "./extras.js";
import { t } from "./words.js";

export async function showSettings(place) {
  await styled();
  const [settings, saved] = await Promise.all([getJson("/settings"), getJson("/settings/saved")]);
  fill(place, h("h2", { class: "label-title" }, t("Appearance")), themes(),
    h("h2", { class: "label-title" }, t("What you can change")), changing(saved, () => showSettings(place)),
    settings.parts.map((part) => [h("h2", { class: "label-title" }, part.heading),
      h("dl", { class: "facts wide" }, part.facts.map((fact) => h("div", {}, h("dt", {}, plain(fact.name)),
        h("dd", { dir: "auto" }, fact.value, fact.words && h("span", { class: "small block" }, fact.words)))))]),
    h("p", { class: "small" }, t("What cannot be changed here is read from "), h("code", {}, saved.file), t(" when Silas starts.")));
}

function applyTheme() {
  const theme = localStorage.getItem("silas.theme") ?? "auto";
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

function themes() {
  const now = localStorage.getItem("silas.theme") ?? "auto";
  const choose = (value) => {
    localStorage.setItem("silas.theme", value);
    applyTheme();
    for (const chip of group.children) chip.setAttribute("aria-pressed", String(chip.dataset.value === value));
  };
  const group = h("div", { class: "chips", role: "group", "aria-label": t("Appearance") },
    [["auto", t("As this device")], ["light", t("Light")], ["dark", t("Dark")]].map(([value, words]) =>
      button(words, () => choose(value), { class: "chip", "data-value": value, "aria-pressed": String(value === now) })));
  return group;
}

/** What changes is shown before anything is saved; a change of a field takes that back. */
function changing(saved, again) {
  const problem = problemPlace();
  const shown = h("div", { role: "status", "data-testid": "changes-shown" });
  const fields = saved.rows.map((row) => ({ row, field: fieldOf(row) }));
  const fieldNamed = (name) => fields.find(({ row }) => row.name === name)?.field;
  const changes = () => Object.fromEntries(fields.map(({ row, field }) => [row.name, valueOf(row, field)])
    .filter(([name, value]) => value !== saved.rows.find((row) => row.name === name).value));
  const go = h("button", { class: "secondary", "data-testid": "show-changes" }, t("Show what changes"));
  const form = h("form", { class: "page-body", novalidate: true, oninput: () => fill(shown), onsubmit: (event) => {
    event.preventDefault();
    trying([go], problem, async () => {
      fill(shown);
      const wanted = changes();
      if (!Object.keys(wanted).length) throw new Error(t("Nothing is changed yet."));
      const told = await postJson("/settings/shown", { changes: wanted });
      fill(shown, h("ul", { class: "plainlist" }, told.changes.map((one) => h("li", {}, one.words,
        one.widens && h("span", { class: "small block warning-text" }, t("This lets Silas do more: a card asks you first."))))), saving(wanted, told, problem, again, fieldNamed));
      shown.querySelector("button")?.focus();
    }, fieldNamed);
  } }, fields.map(({ row, field }) => fieldRow(row, field)), problem, h("div", { class: "controls" }, go), shown);
  return form;
}

function saving(wanted, told, problem, again, fieldNamed) {
  const go = button(told.asks ? t("Ask me in Review") : t("Save to the file"), () => trying([go], problem, async () => {
    const done = await command("/settings/saved", "settings", canonicalJson(wanted), { changes: wanted });
    if (!done.asks) {
      toast(done.words);
      return again();
    }
    location.hash = "#/review"; // that is where the question is
    return undefined;
  }, fieldNamed), { class: "primary", "data-testid": "save-changes" });
  return h("div", { class: "controls" }, go);
}

function fieldOf(row) {
  const id = `set-${row.name}`;
  if (row.kind === "switch") return h("input", { id, type: "checkbox", checked: row.value });
  if (row.kind === "number") return h("input", { id, type: "number", inputmode: "numeric", min: row.least, max: row.most, step: "1", value: String(row.value) });
  if (row.kind === "time") return h("input", { id, type: "time", value: row.value });
  return h("select", { id }, row.choices.map((one) => h("option", { value: one.value ?? "", selected: one.value === row.value }, one.words)));
}

function valueOf(row, field) {
  if (row.kind === "switch") return field.checked;
  if (row.kind === "number" && Number.isInteger(field.valueAsNumber)) return field.valueAsNumber;
  return field.value === "" ? null : field.value;
}

function fieldRow(row, field) {
  const label = h("label", { for: field.id }, row.unit ? `${row.label} (${row.unit})` : row.label);
  const later = row.value !== row.in_force && h("p", { class: "small" }, t("Counts from the next start on."));
  if (row.kind === "switch") return h("div", { class: "field" }, h("span", { class: "toggle" }, field, label), later);
  return h("div", { class: "field" }, label, field, later);
}
