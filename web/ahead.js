/* What is ahead: today and the days after it, what may run without asking, what is paused. A goal is
   paused, resumed and run from here, and its yes is taken back. */

import { command, getJson } from "./api.js";
import { problemPlace, styled, toReview, trying, twice } from "./asking.js";
import { button, fill, h, named, toast } from "./dom.js";
import { always, live } from "./live.js";
import { graph } from "./project.js";
import { t } from "./words.js";

const WEEK = 7;
const YEAR = 366;

export async function showAhead(place, days = WEEK, free = always) {
  const [found] = await Promise.all([getJson(`/ahead?days=${days}`), styled()]);
  if (!free()) return;
  const again = () => showAhead(place, days);
  live(place, (still) => showAhead(place, days, still));
  const runs = found.alone.filter((one) => !one.lapsed), lapsed = found.alone.filter((one) => one.lapsed);
  fill(place,
    found.words && h("p", { class: "small warning-text" }, named(found.words)),
    found.asks.map((words) => h("p", { class: "small warning-text", dir: "auto", "data-testid": "goal-asks" }, named(words), " ", toReview())),
    found.projects.map((one) => graph(one)),
    byDay(found.coming).map(([day, rows]) => h("section", {},
      h("h2", { class: "label-title" }, day),
      h("ul", { class: "rows", "data-testid": "coming" }, rows.map((one) => coming(one, again))))),
    found.coming.length ? null : h("p", {}, days > WEEK ? t("Nothing is to come.") : t("Nothing comes this week.")),
    found.later > 0 && days < YEAR
      ? button(t("Show what comes later ({later})", { later: found.later }), () => showAhead(place, YEAR), { class: "secondary" }) : null,
    h("h2", { class: "label-title" }, t("May run without asking you")),
    runs.length ? h("ul", { class: "rows", "data-testid": "alone" }, runs.map((one) => alone(one, again)))
      : h("p", { class: "small" }, t("Nothing. Each piece of work asks you first.")),
    tighten(),
    lapsed.length ? [h("h2", { class: "label-title" }, t("Lapsed")),
      h("ul", { class: "rows", "data-testid": "lapsed" }, lapsed.map((one) => alone(one, again)))] : null,
    found.asking.length ? [h("h2", { class: "label-title" }, t("Asks each time")),
      h("ul", { class: "rows", "data-testid": "asking" }, found.asking.map(asking))] : null,
    found.paused.length ? [h("h2", { class: "label-title" }, t("Paused")),
      h("ul", { class: "rows", "data-testid": "paused" }, found.paused.map((one) => paused(one, again)))] : null);
}

/** The rows of each day, in the order in which they come. */
function byDay(rows) {
  const days = new Map();
  for (const row of rows) days.set(row.day, [...(days.get(row.day) ?? []), row]);
  return [...days];
}

function coming(one, again) {
  const more = one.more > 1 ? t("{count} more times", { count: one.more }) : one.more ? t("once more") : "";
  const words = [one.again, more].filter(Boolean).join(" · ");
  return h("li", { class: "row tall" },
    h("p", { dir: "auto" }, h("time", { datetime: one.due }, one.time), " ", h("b", {}, one.title)),
    words && h("p", { class: "small" }, named(words)),
    one.kind === "goal" ? acts(one, [[t("Run now"), "run", "run_goal"], [t("Pause"), "pause", "pause_goal"]], again)
      : h("p", { class: "small" }, h("a", { href: "#/more/reminders" }, t("Move or cancel it"))));
}

function alone(one, again) {
  const back = twice({
    label: t("Take back"), of: one.title, yes: t("Yes, ask me again"), no: t("Leave it"), done: again,
    act: () => command(`/goals/${encodeURIComponent(one.id)}/take-back`, "take_back", one.id),
  });
  const problem = problemPlace(), fewer = Math.floor(one.uses_left / 2);
  const half = fewer < 1 ? null : button(t("Only {fewer} more", { fewer }), () => trying([half], problem, async () => {
    const done = await command(`/goals/${encodeURIComponent(one.id)}/narrow`, "narrow", `${one.id} ${fewer}`, { uses: fewer });
    toast(done.words);
    await again();
  }), { class: "quiet", "aria-label": t("Only {fewer} more: {title}", { fewer, title: one.title }) });
  return h("li", { class: "row tall" },
    h("p", { dir: "auto" }, h("b", {}, one.title)),
    h("p", { class: "small", dir: "auto" }, named(one.does)),
    h("p", { class: one.lapsed ? "small warning-text" : "small", dir: "auto" }, named(one.left)),
    h("div", { class: "row-actions" }, back.foot, half), back.problem, problem);
}

/** Whatever was widened by a card is as configured again. */
function tighten() {
  const problem = problemPlace();
  const act = button(t("Tighten approvals"), () => trying([act], problem, async () => {
    toast((await command("/approvals/tighten", "tighten", "approvals")).words);
  }), { class: "secondary" });
  return h("div", {}, act, problem);
}

/** A goal whose yes is over: what it starts has a card each time. */
function asking(one) {
  return h("li", { class: "row tall" },
    h("p", { dir: "auto" }, h("b", {}, one.title)), h("p", { class: "small", dir: "auto" }, named(one.why)));
}

function paused(one, again) {
  return h("li", { class: "row tall" },
    h("p", { dir: "auto" }, h("b", {}, one.title)),
    one.why && h("p", { class: "small", dir: "auto" }, named(one.why)),
    one.resumes ? acts(one, [[t("Resume"), "resume", "resume_goal"]], again) : null);
}

/** Buttons that do at once what is no danger: each with its own signed command. */
function acts(one, wanted, again) {
  const problem = problemPlace();
  const buttons = wanted.map(([label, path, action]) => {
    const act = button(label, () => trying([act], problem, async () => {
      const done = await command(`/goals/${encodeURIComponent(one.id)}/${path}`, action, one.id);
      toast(done.words);
      await again();
    }), { class: "quiet", "aria-label": `${label}: ${one.title}` });
    return act;
  });
  return [h("div", { class: "row-actions" }, buttons), problem];
}
