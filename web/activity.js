/* Activity: what happened, told in sentences; each opens what was shown, signed and run. */

import { getJson } from "./api.js";
import { button, fill, h, icon, skeleton } from "./dom.js";
import { linesOf } from "./card.js";
import { diffView } from "./diff.js";
import { facts, plain } from "./extras.js";
import { atTime, dayOf, inFull } from "./time.js";
import { t } from "./words.js";

const KINDS = [
  ["", t("Everything")], ["asked", t("Asked")], ["approved", t("Decided")], ["ran", t("Ran")],
  ["checked", t("Checked")], ["changed", t("Changed")], ["refused", t("Refused")], ["system", t("Silas itself")],
];
const ANSWERS = {
  approved: t("Approved"), declined: t("Declined"), edit_requested: t("Changes wanted"), conditional: t("Approved on conditions"),
};
const SCOPES = {
  full_plan: t("This plan"), single_step: t("One call"), tool_type: t("Calls of one tool"), standing: t("What a goal starts"),
  skill_install: t("Installing a skill"), credential_use: t("Using a secret"), connection_act: t("Using a connection"),
  connection_manage: t("Changing a connection"), autonomy_threshold: t("How much Silas asks"),
};
const STEPS = { running: t("under way"), done: t("done"), failed: t("failed"), unknown: t("not known") };
const PAGE = 50;

let kind = "";
let all = false;

/** The timeline. `#/activity/12` shows entry 12. */
export async function showActivity(place, [seq]) {
  if (seq === "reviews") return showMetrics(place);
  if (seq) return showEntry(place, seq);
  const list = h("div", { class: "timeline" });
  const more = button(t("Earlier"), () => load(list, more), { class: "quiet older", hidden: true });
  const afresh = () => {
    delete list.dataset.before;
    return load(list, more);
  };
  const chips = h("div", { class: "chips filters", role: "group", "aria-label": t("Show") }, KINDS.map(([value, words]) =>
    button(words, (event) => {
      kind = value;
      for (const chip of chips.children) chip.setAttribute("aria-pressed", String(chip === event.currentTarget));
      afresh();
    }, { class: "chip", "aria-pressed": String(value === kind) })));
  const steps = h("input", { type: "checkbox", checked: all, onchange: () => { all = steps.checked; afresh(); } });
  fill(place, chips, list, more,
    h("div", { class: "after" },
      h("label", { class: "toggle" }, steps, t("Every step in between")),
      h("a", { class: "onward", href: "#/activity/reviews" }, t("How deciding has been going"), icon("next"))));
  return afresh();
}

async function load(list, more) {
  const asked = `${kind} ${all}`;
  const before = list.dataset.before;
  list.setAttribute("aria-busy", "true");
  if (!before) fill(list, skeleton());
  const query = [`last=${PAGE}`, before && `before=${before}`, kind && `kind=${kind}`, all && "all=true"];
  try {
    const page = await getJson(`/activity?${query.filter(Boolean).join("&")}`);
    if (asked !== `${kind} ${all}`) return;
    if (!before) fill(list);
    list.dataset.before = page.before ?? page.entries.at(-1)?.seq ?? "";
    addEntries(list, page.entries);
    more.hidden = !page.more;
    if (!list.firstChild) fill(list, nothing());
  } catch (error) {
    if (!before) fill(list, h("p", { class: "problem" }, error.message));
  } finally {
    list.removeAttribute("aria-busy");
  }
}

function addEntries(list, entries) {
  for (const entry of entries) {
    const day = dayOf(entry.at);
    let section = list.lastElementChild;
    if (section?.dataset.day !== day) {
      section = h("section", { "data-day": day }, h("h2", { class: "label-title" }, day), h("ol", {}));
      list.append(section);
    }
    section.lastChild.append(row(entry));
  }
}

function row(entry) {
  return h("li", { "data-seq": entry.seq, "data-kind": entry.kind },
    h("a", { class: "entry", href: `#/activity/${entry.seq}`, "data-testid": "entry" },
      h("span", { class: "dot", "aria-hidden": "true" }),
      h("span", { class: "entry-words", dir: "auto" }, entry.words),
      h("time", { datetime: entry.at, title: inFull(entry.at) }, atTime(entry.at))));
}

async function showEntry(place, seq) {
  fill(place, skeleton());
  let entry;
  try {
    entry = await getJson(`/activity/${encodeURIComponent(seq)}`);
  } catch (error) {
    fill(place, backLink(), h("p", { class: "problem" }, error.message));
    return;
  }
  fill(place, backLink(),
    h("h2", { class: "page-title", dir: "auto", tabindex: "-1" }, entry.words),
    h("p", { class: "small" }, inFull(entry.at), entry.work_item_id && [" · ",
      h("a", { href: `#/more/work/${encodeURIComponent(entry.work_item_id)}` }, t("its work item"))]),
    part(t("What was shown"), entry.shown && linesOf(entry.shown), t("Nothing was shown for this.")),
    part(t("What was signed"), entry.signed && signedView(entry.signed), t("Nothing was signed for this.")),
    part(t("What ran"), entry.ran?.length && ranView(entry.ran), t("Nothing ran for this.")),
    entry.diff && part(t("What changed"), diffView(entry.diff).node));
}

/** What is known of a signed approval. */
export function signedView(signed) {
  return facts([
    [t("Answer"), ANSWERS[signed.verdict] ?? signed.verdict], [t("For"), SCOPES[signed.scope] ?? plain(signed.scope)], [t("On"), signed.device || null],
    [t("Signed"), inFull(signed.issued_at)], [t("Good until"), signed.expires_at && inFull(signed.expires_at)],
    [t("Used"), t("{uses} of {max_executions}", { uses: signed.uses, max_executions: signed.max_executions })],
    [t("Hash"), h("code", { class: "hash" }, `sha256:${signed.hash}`)],
  ]);
}

function ranView(ran) {
  return h("ol", { class: "ran" }, ran.map((one) => h("li", { "data-state": one.state },
    h("span", { class: "step-mark", "aria-hidden": "true" }), h("span", { dir: "auto" }, one.words),
    h("span", { class: "unseen" }, ` (${STEPS[one.state]})`), h("time", { datetime: one.at }, atTime(one.at)))));
}

function part(title, node, without) {
  return h("section", { class: "part" }, h("h3", { class: "label-title" }, title), node || h("p", { class: "small" }, without));
}

async function showMetrics(place) {
  fill(place, skeleton());
  let rows;
  try {
    await (await import("./asking.js")).styled();
    rows = await getJson("/metrics/ux");
  } catch (error) {
    fill(place, backLink(), h("p", { class: "problem" }, error.message));
    return;
  }
  const said = { good: t("As it should be"), watch: t("Worth a look"), none: t("Too little so far") };
  fill(place, backLink(), h("h2", { class: "page-title", tabindex: "-1" }, t("How deciding has been going")),
    h("p", { class: "small" }, t("Counted from the record on this computer. Sent nowhere.")),
    h("ul", { class: "metrics" }, rows.map((one) =>
      h("li", { "data-state": one.state },
        h("h3", {}, one.title ?? plain(one.name)),
        h("p", { class: "metric-value" }, one.value === null ? "–" : String(one.value),
          one.value !== null && h("span", { class: "unit" }, ` ${one.unit}`)),
        h("p", { class: "metric-words" }, one.words),
        h("p", { class: "metric-state" }, h("b", {}, said[one.state]), one.target && t(" · aim: {target}", { target: one.target }))))));
}

const backLink = () => h("a", { class: "back", href: "#/activity" }, icon("back"), t("All activity"));

function nothing() {
  return h("div", { class: "empty" }, h("p", { class: "empty-title" }, kind ? t("Nothing of that kind yet.") : t("Nothing has happened yet.")),
    h("p", {}, t("Everything Silas does, and everything you decide, will be told here.")));
}
