/* Work under way: its steps, the last lines of its log, what of the budget is used, and a way to stop. */

import { postJson } from "./api.js";
import { button, fill, h, keyed, named, toast } from "./dom.js";
import { isHere, state } from "./state.js";
import { stopwatch, took } from "./time.js";
import { t } from "./words.js";

const STATUS = {
  running: t("Working"), verification_failed: t("A check failed; trying again"), done: t("Done"),
  blocked: t("Waits"), stuck: t("Stuck"), failed: t("Failed"), paused: t("Paused"),
};
const STEP_WORDS = { running: t("under way"), done: t("done"), failed: t("failed") };

export function drawRunning(place) {
  keyed(place, [...state.running.values()].filter((one) => isHere(state, one)), (one) => one.work_item_id, make, update);
}

function make(progress) {
  const node = h("article", { class: "run", "aria-label": t("Under way: {title}", { title: progress.title }), "data-testid": "running" });
  node.parts = {
    status: h("p", { class: "run-status" }),
    message: h("p", { class: "run-message", role: "status" }),
    steps: h("ol", { class: "steps" }),
    sofar: null,
    log: h("pre", { class: "log", tabindex: "0", "aria-label": t("The last lines that it prints; not Silas's words"), dir: "auto" }),
    logBox: null,
    budget: h("div", { class: "budget" }),
    whole: h("p", { class: "small" }, h("a", { href: `#/more/work/${encodeURIComponent(progress.work_item_id)}` }, t("Look at all of it"))),
    stop: button(t("Stop this"), () => cancel(progress), { class: "quiet danger" }),
  };
  const { status, message, steps, log, budget, stop } = node.parts;
  follow(log);
  node.parts.sofar = h("div", { class: "so-far", role: "group", "aria-label": t("Steps") }, steps, message);
  follow(node.parts.sofar);
  node.parts.logBox = h("details", { class: "log-box", open: true, ontoggle: () => settle(node) }, h("summary", {}, t("What it prints")), log);
  node.append(
    h("div", { class: "run-head" }, h("div", {}, status, h("h2", { dir: "auto" }, progress.title)), stop),
    node.parts.whole, budget, node.parts.sofar, node.parts.logBox); // what grows is last: nothing beneath it moves
  update(node, progress);
  return node;
}

function update(node, progress) {
  const { status, message, steps, sofar, log, logBox, budget, stop } = node.parts;
  [sofar, log].forEach(noticeHand);
  const again = progress.attempt > 1 ? t(", attempt {attempt}", { attempt: progress.attempt }) : "";
  node.dataset.status = progress.status;
  fill(status, h("span", { class: "pulse", "aria-hidden": "true" }), `${STATUS[progress.status] ?? ""}${again}`);
  if (message.told !== progress.message) fill(message, named(progress.message));
  message.told = progress.message;
  // Announced all the same, and not to be read twice where the step under way says it.
  const said = progress.steps.some((step) => step.state === "running" && step.words === progress.message);
  message.classList.toggle("unseen", said);
  keyed(steps, progress.steps.map((step, n) => ({ ...step, n })), (step) => `${step.n} ${step.words}`, makeStep, updateStep);
  steps.hidden = !progress.steps.length;
  const tail = progress.log_tail.join("\n");
  logBox.hidden = !tail;
  if (log.tail !== tail) {
    const gone = log.follows ? 0 : heightOfGone(log, tail);
    const top = log.scrollTop;
    fill(log, tail);
    log.tail = tail;
    moveTo(log, log.follows ? log.scrollHeight : top - gone); // further up: nothing moves
  }
  settle(node);
  requestAnimationFrame(() => { if (sofar.follows) moveTo(sofar, sofar.scrollHeight); });
  keyed(budget, progress.budget.map((line, n) => ({ ...line, n })), (line) => line.n, makeBar, updateBar);
  stop.hidden = !progress.stoppable;
}

/** Until a hand scrolls it up a box follows what is new, also where another tab hid it meanwhile. */
function follow(box) {
  box.follows = true;
  box.at = 0;
  box.onscroll = () => noticeHand(box);
}

/** What is new may come before a scroll is told of: a hand is known by where it left the box. */
function noticeHand(box) {
  if (!box.clientHeight) return;
  if (box.scrollHeight - box.scrollTop - box.clientHeight <= 40) box.follows = true;
  else if (box.scrollTop !== box.at) box.follows = false;
  box.at = box.scrollTop;
}

function moveTo(box, top) {
  box.scrollTop = top;
  box.at = box.scrollTop;
}

/** From the first line that is printed on the steps have a room of their own: a new one does not move the lines. */
function settle({ parts: { sofar, logBox } }) {
  const still = !logBox.hidden && logBox.open;
  if (sofar.classList.contains("still") === still) return;
  sofar.style.blockSize = still ? `${sofar.offsetHeight}px` : ""; // what fits when it begins to scroll
  sofar.classList.toggle("still", still);
  if (still) sofar.tabIndex = 0; // it scrolls
  else sofar.removeAttribute("tabindex");
}

/** How high the oldest lines were that are not there any more. */
function heightOfGone(log, tail) {
  const had = (log.tail ?? "").split("\n");
  const gone = had.findIndex((_, n) => tail.startsWith(had.slice(n).join("\n")));
  if (gone <= 0) return 0;
  const height = log.scrollHeight;
  fill(log, had.slice(gone).join("\n"));
  return height - log.scrollHeight;
}

function makeStep(step) {
  const node = h("li", {}, h("span", { class: "step-mark", "aria-hidden": "true" }),
    h("span", { class: "step-line" }, h("span", { dir: "auto" }, step.words), h("span", { class: "step-time" })), h("span", { class: "unseen" }));
  updateStep(node, step);
  const time = node.querySelector(".step-time");
  if (step.state === "running") stopwatch(time, () => {
    if (node.dataset.state === "running" && state.link === "open") time.textContent = took((performance.now() - node.begun) / 1000);
  });
  return node;
}

function updateStep(node, step) {
  node.dataset.state = step.state;
  node.begun = performance.now() - step.seconds * 1000; // as Silas says it, also of the same call in a new attempt
  if (step.state !== "running") node.querySelector(".step-time").textContent = took(step.seconds);
  node.lastChild.textContent = ` (${STEP_WORDS[step.state]})`;
}

function makeBar(line) {
  const node = h("div", { class: "bar" }, h("span", { class: "bar-words" }), h("span", { class: "bar-track", "aria-hidden": "true" }, h("span", { class: "bar-fill" })));
  updateBar(node, line);
  return node;
}

function updateBar(node, line) {
  const share = Math.max(0, Math.min(1, Number(line.share)));
  node.firstChild.textContent = line.words;
  node.lastChild.firstChild.style.transform = `scaleX(${share})`;
  node.classList.toggle("nearly", line.tight);
}

async function cancel(progress) {
  try {
    await postJson(`/work/${encodeURIComponent(progress.work_item_id)}/cancel`);
    toast(t("It is being stopped. What it changed is kept until you undo it."));
  } catch (error) {
    toast(error.message);
  }
}
