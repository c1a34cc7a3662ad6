/* Doing something from a list under More: one request at a time, and its error beside its button. */

import { button, fill, h, named, toast } from "./dom.js";
import { t } from "./words.js";

/** The styles of lists and of words with a form: they come with what needs them. */
export function styled() {
  if (document.querySelector("link[href='/static/text.css']")) return Promise.resolve();
  return new Promise((resolve) => {
    document.head.append(h("link", { rel: "stylesheet", href: "/static/text.css", onload: resolve, onerror: resolve }));
  });
}

/** Where an error of what was last tried stands; empty, it takes no place. */
export const problemPlace = () => h("p", { class: "field-problem", role: "alert" });

/** What is wrong with a field, where the page sees it before anything is sent. */
export class Misfit extends Error {
  constructor(field, words) {
    super(words);
    this.at = field;
  }
}

/**
 * Do it with the controls off; what went wrong is said in `problem`, and what was written stays. An
 * error of one field stands beside that one: `fields` finds it by its name, or is the only one.
 * @param {any} [fields]
 */
export async function trying(controls, problem, act, fields = () => null) {
  for (const control of controls) control.disabled = true;
  problem.textContent = "";
  problem.fits?.();
  let failed = null;
  try {
    await act();
  } catch (error) {
    failed = error;
  } finally {
    for (const control of controls) control.disabled = false;
  }
  if (failed) complain(problem, failed, fields);
}

/** Say what went wrong: beside its field, which gets the focus, else in `problem`. */
export function complain(problem, error, fields) {
  const only = fields instanceof Node && [400, 413].includes(error.status) ? fields : null;
  const field = error.at ?? (typeof fields === "function" ? fields(error.field ?? "") : only);
  if (field?.isConnected) problem.fits = misfit(field, error.message);
  else fill(problem, named(error.message), error.code?.endsWith("_ASKED") && [" ", toReview()]);
}

/** The way to a question that waits. */
export const toReview = () => h("a", { href: "#/review", "data-testid": "to-review" }, t("Answer it in Review"));

/** The words stand at the field until it is changed; gives back what takes them away sooner. */
function misfit(field, words) {
  const told = h("p", { class: "field-problem", role: "alert", id: `${field.id}-misfit` }, named(words));
  const fits = () => {
    told.remove();
    field.removeAttribute("aria-invalid");
    field.removeAttribute("aria-describedby");
    field.removeEventListener("input", fits);
  };
  (field.closest(".with-button, .toggle") ?? field).after(told);
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", told.id);
  field.addEventListener("input", fits);
  field.focus();
  return fits;
}

/**
 * A button that asks once more where it stands, then does it; `named` says both in a language's own order.
 * @param {{ label: string, of: string, named?: string, yes: string, no: string, act: () => Promise<any>, done: () => any }} given
 */
export function twice(given) {
  const foot = h("div", { class: "row-foot" });
  const problem = problemPlace();
  const first = button(given.label, () => {
    const yes = button(given.yes, () => trying([yes], problem, async () => {
      const done = await given.act();
      toast(done?.words ?? t("Done."));
      await given.done();
    }), { class: "secondary danger" });
    fill(foot, yes, button(given.no, () => { fill(foot, first); first.focus(); }, { class: "quiet" }));
    yes.focus();
  }, { class: "quiet danger", "aria-label": given.named ?? `${given.label} ${given.of}` });
  fill(foot, first);
  return { foot, problem, first };
}
