/* Work items: the list, and one of them with its plan, checks, changes and the way back. */

import { command, getJson, postJson } from "./api.js";
import { signedView } from "./activity.js";
import { styled, toReview } from "./asking.js";
import { linesOf, riskBadge } from "./card.js";
import { button, fill, h, icon, named, toast } from "./dom.js";
import { diffView } from "./diff.js";
import { checksView, outputView, reportView, statusMark } from "./result.js";
import { checksChangedView } from "./result_rare.js";
import { RISKS } from "./kinds.js";
import { always, live } from "./live.js";
import { graph } from "./project.js";
import { dayOf, atTime } from "./time.js";
import { t } from "./words.js";

export async function showWork(place, path, free = always) {
  const [id] = path;
  if (id) return showOne(place, decodeURIComponent(id));
  const all = await getJson("/work"), listed = new Set(all.map((row) => row.id));
  const rows = all.filter((row) => row.status === "waiting" || !listed.has(row.part_of)); // the others are on their project's page
  if (!free()) return undefined;
  live(place, (still) => showWork(place, [], still));
  if (!rows.length) {
    fill(place, h("div", { class: "empty" }, h("p", { class: "empty-title" }, t("No work yet.")),
      h("p", {}, t("What you ask for appears here, with its plan, its checks and what it changed."))));
    return undefined;
  }
  fill(place, h("ul", { class: "rows" }, rows.map((row) => h("li", {},
    h("a", { class: "row tall link-row", href: `#/more/work/${encodeURIComponent(row.id)}` },
      h("p", { class: "row-head" }, h("b", { dir: "auto" }, row.title), statusMark(row.status)),
      row.summary && h("p", { class: "small clamp", dir: "auto" }, named(row.summary)),
      row.taken_back && h("p", { class: "small", dir: "auto" }, named(row.taken_back)),
      h("p", { class: "small" }, row.created_at ? `${dayOf(row.created_at)}, ${atTime(row.created_at)}` : "",
        row.undoable && t(" · can be taken back")))))));
  return undefined;
}

async function showOne(place, id, free = always) {
  const [one] = await Promise.all([getJson(`/work/${encodeURIComponent(id)}`), styled()]);
  if (!free()) return;
  live(place, (still) => showOne(place, id, still));
  const problem = h("p", { class: "field-problem", role: "alert" });
  const risk = RISKS.includes(one.risk) ? one.risk : "irreversible";
  fill(place,
    h("p", { class: "result-top" }, statusMark(one.status)),
    h("h2", { class: "page-title", dir: "auto", tabindex: "-1" }, one.title),
    one.summary && h("p", { class: "result-summary", dir: "auto" }, named(one.summary), one.asks && [" ", toReview()]),
    one.taken_back && h("p", { dir: "auto" }, named(one.taken_back)),
    h("p", { class: "small" }, riskBadge(risk, true), one.affected && [" · ", named(one.affected)]),
    one.part_of && h("p", { class: "small" }, h("a", { href: `#/more/work/${encodeURIComponent(one.part_of)}` }, t("The project that it is part of"))),
    one.rest_as && h("p", { class: "small" }, h("a", { href: `#/more/work/${encodeURIComponent(one.rest_as)}`, "data-testid": "rest-as" }, t("Its rest is a project of its own: {rest}", { rest: one.rest_as }))),
    controls(place, one, problem), problem,
    one.project && graph(one.project, "h3"),
    reportView(one.report, one.grounds),
    one.output && section(t("What it printed (not Silas's words)"), outputView(one.output)),
    section(t("Checks"), checksView(one.checks)),
    checksChangedView(one.checks_changed),
    one.diff && changes(one.diff),
    one.next_steps.length ? section(t("What could be next"), h("ul", { class: "plainlist" }, one.next_steps.map((step) => h("li", { dir: "auto" }, step)))) : null,
    one.budget.length ? section(t("Budget used"), h("div", { class: "budget" }, one.budget.map(bar))) : null,
    section(t("The plan"), h("div", { class: "details" }, one.plan.map((part) =>
      h("details", {}, h("summary", {}, part.heading), linesOf(part.lines))))),
    section(t("Your approval"), one.approval ? signedView(one.approval) : h("p", { class: "small" }, t("Not given."))),
    h("p", { class: "small" }, t("Plan "), h("code", { class: "hash" }, `sha256:${one.hash}`)));
}

function controls(place, one, problem) {
  const again = () => showOne(place, one.id);
  const act = (label, todo, props) => {
    const control = button(label, async () => {
      control.disabled = true;
      problem.textContent = "";
      try {
        const done = await todo();
        toast(done?.words ?? t("Done."));
        await again();
      } catch (error) {
        problem.textContent = error.message;
        control.disabled = false;
      }
    }, props);
    return control;
  };
  const path = `/work/${encodeURIComponent(one.id)}`;
  const found = [
    one.undoable && act([icon("undo"), t("Undo its changes")], () => command(`${path}/undo`, "undo", one.id), { class: "secondary undo-button", "data-testid": "undo" }),
    one.running && act(t("Stop this work"), () => postJson(`${path}/cancel`), { class: "secondary" }),
    one.rest && act(t("Ask about the rest"), async () => {
      const done = await postJson(`${path}/rest`);
      location.hash = "#/review";
      return done;
    }, { class: "primary", "data-testid": "rest" }),
    (one.status === "waiting" || one.again) && act(one.again ? t("Ask about it again") : t("Show its question"), async () => {
      await postJson(`${path}/ask`);
      location.hash = "#/review";
    }, { class: "primary", "data-testid": "ask" }),
  ].filter(Boolean);
  return found.length ? h("div", { class: "controls" }, found) : null;
}

function changes(patch) {
  const { node, words } = diffView(patch);
  return section(t("What changed: {words}", { words }), node);
}

const section = (title, node) => node && h("section", { class: "part" }, h("h3", { class: "label-title" }, title), node);

function bar(line) {
  const fillNode = h("span", { class: "bar-fill" });
  fillNode.style.transform = `scaleX(${Math.max(0, Math.min(1, Number(line.share)))})`;
  return h("div", { class: "bar" }, h("span", { class: "bar-words" }, line.words),
    h("span", { class: "bar-track", "aria-hidden": "true" }, fillNode));
}
