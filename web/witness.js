/* Signing the newest entry of the record: its line, kept elsewhere, shows what is cut off later. */

import { command } from "./api.js";
import { problemPlace, trying } from "./asking.js";
import { copy } from "./code.js";
import { button, fill, h } from "./dom.js";
import { t } from "./words.js";

export function showWitness(place) {
  const problem = problemPlace(), told = h("div", { role: "status", "data-testid": "signed-entry" });
  const sign = button(t("Sign the newest entry"), () => trying([sign], problem, async () => {
    show(told, await command("/record/witness", "witness", "record"));
  }), { class: "secondary", "data-testid": "sign-entry" });
  fill(place, h("h2", { class: "label-title" }, t("A witness of the record")),
    h("p", { class: "small" }, t("Your key signs which entry of the record is the newest. Whoever keeps that line elsewhere can tell later if something was cut off.")),
    sign, problem, told);
}

function show(place, { words, line, faults }) {
  const code = h("code", { dir: "ltr" }, line);
  fill(place, h("p", { class: "small" }, words),
    h("pre", { class: "log", tabindex: "0", "aria-label": t("The signed line") }, code),
    button(t("Copy"), () => copy(line, code), { class: "quiet small-button", "aria-label": t("Copy the signed line") }),
    faults.map((one) => h("p", { class: "problem", dir: "auto" }, one)));
}
