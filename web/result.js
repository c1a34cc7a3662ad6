/* Work that has ended, and the way back. */

import { command } from "./api.js";
import { add, button, fill, h, icon, named, toast } from "./dom.js";
import { countdown, left } from "./time.js";
import { t } from "./words.js";

const STATUS = {
  done: [t("Done"), "good"], failed: [t("Failed"), "bad"], stuck: [t("Stuck"), "bad"], blocked: [t("Blocked"), "bad"],
  approved: [t("Approved"), "good"], healthy: [t("Healthy"), "good"], failing: [t("Failing"), "bad"], repaired: [t("Repaired"), "good"], ended: [t("Ended"), "neutral"],
  waiting: [t("Waiting"), "neutral"], running: [t("Running"), "neutral"], pending: [t("Not begun"), "neutral"],
  undone: [t("Taken back"), "neutral"], paused: [t("Paused"), "neutral"], cancelled: [t("Stopped"), "neutral"], stopped: [t("Stopped"), "neutral"],
};

const told = (status) => STATUS[status] ?? [status.charAt(0).toUpperCase() + status.slice(1).replaceAll("_", " "), "neutral"];

/** What stands in the Stream from now on: how a goal stands later is not known there. */
const kept = (status) => status === "healthy" ? "approved" : status;

/** How work ended, as a part of a sentence. */
export const statusWords = (status) => told(kept(status))[0].toLowerCase();

export function statusMark(status) {
  const [words, tone] = told(status);
  return h("span", { class: "status", "data-tone": tone }, icon({ good: "check", bad: "cross" }[tone] ?? "activity"), words);
}

export function resultView(result) {
  const node = h("article", { class: "result", "aria-label": t("Result: {title}", { title: result.title }), "data-testid": "result", "data-work": result.work_item_id });
  add(node, parts(result));
  refreshResult(node, result);
  return node;
}

function parts(result) {
  return [
    h("p", { class: "small asked" }), h("p", { class: "result-top" }, statusMark(kept(result.status))),
    h("h2", { dir: "auto" }, result.title),
    result.summary && h("p", { class: "result-summary", dir: "auto" }, named(result.summary)),
    reportView(result.report, result.grounds), outputDetails(result.output), checksView(result.checks), result.checks_changed?.length > 0 && rare("checksChangedView", result.checks_changed), diffDetails(result.diff), result.again && rare("askAgainView", result.work_item_id), h("div", { class: "undo" })];
}

const drawn = new WeakMap(); // what a node shows, until it shows something else

export function refreshResult(node, result) {
  const before = drawn.get(node) ?? result;
  drawn.set(node, result);
  if (["summary", "report", "output", "diff", "again"].some((name) => before[name] !== result[name])) fill(node, ...parts(result));
  const asked = node.querySelector(".asked"), words = result.apart ? result.asked.words : "";
  if (asked.hidden = !words) fill(asked);
  else if (asked.dataset.drawn !== words) {
    fill(asked, h("span", { dir: "auto" }, t("To your message “{words}” ", { words })),
      button(t("Show it"), () => import("./said.js").then(({ toMessage }) => toMessage(result.reply_to)), { class: "link of-message", "data-testid": "to-asked" }));
  }
  asked.dataset.drawn = words;
  const place = node.querySelector(".undo");
  const now = `${result.undone} ${result.undo_until}`;
  if (place.dataset.drawn === now) return;
  place.dataset.drawn = now;
  if (result.undone) node.querySelector(".status").replaceWith(statusMark("undone"));
  if (result.undone) fill(place, h("p", { class: "undone", role: "status" }, icon("undo"), t("Taken back. Everything is as it was before.")));
  else if (result.undo_until) fill(place, undoButton(result));
  else fill(place);
}

function rare(view, given) {
  const place = h("div");
  import("./result_rare.js").then((views) => add(place, [views[view](given)]));
  return place;
}

function undoButton(result) {
  const time = h("span", { class: "undo-time" });
  const problem = h("p", { class: "field-problem", role: "alert" });
  let late = false; // after its time one tap asks, and the next one takes back
  const act = button("", () => late && act.dataset.sure !== "true" ? makeSure(act) : undo(result, act, problem), { class: "secondary undo-button", "data-testid": "undo" });
  act.append(icon("undo"), h("span", {}, t("Undo")), time);
  const place = h("div", {}, act, problem);
  countdown(place, result.undo_until, (ms) => {
    time.textContent = ms > 0 ? left(ms) : "";
    late = ms <= 0;
  });
  return place;
}

function makeSure(act) {
  act.dataset.sure = "true";
  fill(act, icon("undo"), h("span", {}, t("Tap again to undo")));
}

export async function undo(result, act, problem) {
  act.disabled = true;
  problem.textContent = "";
  try {
    await command(`/work/${encodeURIComponent(result.work_item_id)}/undo`, "undo", result.work_item_id);
    toast(t("Taken back."));
  } catch (error) {
    problem.textContent = error.message;
    act.disabled = false;
  }
}

export function checksView(checks) {
  if (!checks?.length) return null;
  return h("ul", { class: "checks", "aria-label": t("Checks") }, checks.map((check) =>
    h("li", { "data-passed": String(check.passed) }, icon(check.passed ? "check" : "cross"),
      h("span", {}, h("b", { dir: "auto" }, check.name), h("span", { class: "unseen" }, ` ${check.passed ? t("passed") : t("failed")}`),
        check.words && [" ", h("span", { class: "check-words", dir: "auto" }, check.words)]))));
}

/** What its executor says: a model's own words, under a heading that says so. */
export function reportView(report, grounds) {
  if (!report) return null;
  return h("figure", { class: "report", "data-testid": "report" },
    h("figcaption", { class: "hint" }, [t("The executor's report, in its own words"), grounds && t("on record: {grounds}", { grounds })].filter(Boolean).join("; ")),
    h("div", { class: "quoted", dir: "auto" }, report));
}

export function outputView(output) {
  return h("pre", { class: "quoted", dir: "auto", tabindex: "0", "aria-label": t("What it printed; not Silas's words") }, output);
}

function outputDetails(output) {
  if (!output) return null;
  const lines = output.split("\n").length;
  return h("details", { class: "diff-box", open: lines <= 40 || null, "data-testid": "output" },
    h("summary", {}, h("span", {}, t("What it printed")), h("span", { class: "hint" }, t("{lines} lines, not Silas's words", { lines }))), outputView(output));
}

function diffDetails(patch) {
  if (!patch) return null;
  const hint = h("span", { class: "hint" });
  const box = h("details", { class: "diff-box" }, h("summary", {}, h("span", {}, t("What changed")), hint));
  import("./diff.js").then(({ diffView }) => {
    const { node, words } = diffView(patch);
    fill(hint, words);
    box.append(node);
  }).catch(() => fill(hint, t("not drawn: reload the page")));
  return box;
}
