/* A project as a graph that fits a phone: numbered steps from the top down, and under each task how it
   stands and what it waits for. */

import { h, icon } from "./dom.js";
import { t } from "./words.js";

const MARKS = { done: "check", failed: "cross", never: "cross", waiting: "alert", undone: "undo" };

export function graph(one, title = "h2") {
  const total = one.steps.flat().length;
  return h("section", { class: "graph-part", "data-testid": "project", "data-project": one.id },
    h(title, { class: "label-title", dir: "auto" }, t("{title}: {done} of {total} done", { title: one.title, done: one.done, total })),
    h("ol", { class: "graph" }, one.steps.map((tasks, n) => h("li", {},
      h("p", { class: "small graph-step" }, t("Step {n}", { n: n + 1 })),
      h("ul", {}, tasks.map(task))))));
}

function task(one) {
  return h("li", { "data-state": one.state },
    h("span", { class: "graph-mark", "aria-hidden": "true" }, MARKS[one.state] && icon(MARKS[one.state])),
    h("div", {},
      h("p", { class: "graph-task", dir: "auto" }, h("a", { href: `#/more/work/${encodeURIComponent(one.id)}` }, one.title), " ",
        h("span", { class: "tag" }, one.words)),
      one.after.length ? h("p", { class: "small", dir: "auto" }, t("after {names}", { names: one.after.join(", ") })) : null));
}
