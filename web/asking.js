/* Doing something from a list under More: one request at a time, and its error beside its button. */

import { button, fill, h, toast } from "./dom.js";
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

/** Do it with the controls off; what went wrong is said in `problem`, and what was written stays. */
export async function trying(controls, problem, act) {
  for (const control of controls) control.disabled = true;
  problem.textContent = "";
  try {
    await act();
  } catch (error) {
    problem.textContent = error.message;
  } finally {
    for (const control of controls) control.disabled = false;
  }
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
