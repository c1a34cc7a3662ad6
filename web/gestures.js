/* The risk ladder: what it takes to say yes. One tap, a second tap, a slide, a slide and the
   device's own lock. Each works by finger, by keyboard and by screen reader; saying no is one tap. */

import { button, fill, h, icon } from "./dom.js";
import { t } from "./words.js";

const END = 100;
const KEYS = { ArrowUp: 10, PageUp: 25, ArrowDown: -10, PageDown: -25 };
const ALONG = { ArrowRight: 10, ArrowLeft: -10 }; // from the start of the line to its end: the other way where it is written from the right

function stepOf(key, node) {
  if (key in ALONG) return getComputedStyle(node).direction === "rtl" ? -ALONG[key] : ALONG[key];
  return KEYS[key];
}
const LEAP = 30; // a finger that has slid never moves this far between two events; a tap does

/**
 * The second half of a gesture, shown in place of the buttons.
 * `done()` is called once, when it is complete; `back()` when the owner thinks again.
 */
export function confirmation(gesture, label, { done, back }) {
  const place = h("div", { class: "confirm", role: "group", "aria-label": t("Confirm: {label}", { label }) });
  const again = button(t("Not yet"), back, { class: "decline", "data-testid": "not-yet" });
  if (gesture === "chip") {
    const yes = button(t("Yes: {label}", { label }), (event) => {
      if (event.detail < 2) done(); // the second half of a double tap is no second thought
    }, { class: "primary", "data-testid": "confirm", onkeydown: (event) => {
      if (event.repeat) event.preventDefault(); // and neither is a key that is held down
    } });
    place.append(h("p", { class: "confirm-words" }, t("Sure? This is the second and last tap.")), yes);
    return { nodes: [place, again], focus: () => yes.focus() };
  }
  const status = h("p", { class: "confirm-words", role: "status" },
    gesture === "slide+auth"
      ? t("This cannot be undone. Slide to the end; then this device checks that it is you, where it can.")
      : t("Slide to the end to confirm."));
  const track = slider(label, async () => {
    if (gesture === "slide+auth") {
      status.textContent = t("Asking this device to check that it is you …");
      const result = await import("./lock.js").then((lock) => lock.localCheck(), () => "refused");
      if (result === "refused") {
        track.reset();
        status.textContent = t("The check was not passed, so nothing was sent. Slide again to retry.");
        return;
      }
      if (result === "unavailable") {
        status.textContent = t("This device offers no check of its own here; your slide counts.");
      }
    }
    done();
  });
  place.append(status, track.node);
  return { nodes: [place, again], focus: () => track.input.focus() };
}

/** A slider that has to be drawn to its end; `complete` is called when it was. */
export function slider(label, complete) {
  const input = h("input", {
    type: "range", min: "0", max: String(END), step: "1", value: "0", class: "slide-input",
    "aria-label": t("Slide to confirm: {label}", { label }), "data-testid": "slide",
  });
  const words = h("span", { class: "slide-words", "aria-hidden": "true" }, label, icon("arrow"));
  const enter = button(t("Confirm: {label}", { label }), () => finish(), { class: "primary slide-enter", hidden: true });
  const node = h("div", { class: "slide" }, h("div", { class: "slide-track" }, words, input), enter);
  let finger = false;
  let at = 0;
  let finished = false;

  function move(value) {
    at = Math.max(0, Math.min(END, value));
    input.value = String(at);
    node.style.setProperty("--at", `${at}%`);
    input.setAttribute("aria-valuetext",
      at === END ? t("At the end. Press Enter to confirm.") : t("{at} percent. Go to the end to confirm.", { at }));
    enter.hidden = finger || at < END;
  }
  function finish() {
    if (finished || at < END) return;
    finished = true;
    node.classList.add("done");
    complete();
  }
  function reset() {
    finished = false;
    finger = false;
    node.classList.remove("done");
    move(0);
  }

  input.onpointerdown = () => { finger = true; };
  input.oninput = () => {
    const value = Number(input.value);
    const leapt = finger && Math.abs(value - at) > LEAP;
    move(leapt ? at : value >= 97 ? END : value);
  };
  input.onpointerup = input.onpointercancel = () => {
    if (!finger) return;
    if (at === END) finish();
    else reset();
    finger = false;
  };
  input.onkeydown = (event) => {
    const step = stepOf(event.key, input);
    if (step) move(at + step);
    else if (event.key === "Home") move(0);
    else if (event.key === "End") move(END);
    else if (event.key === "Enter") finish();
    else return;
    event.preventDefault();
  };
  move(0);
  return { node, input, reset };
}

/**
 * The buttons of a card in the order given, and the confirmation that takes their place.
 * `choicesNow()` gives them as they are: {label, role, gesture, ready(), blocked, send()}.
 */
export function actionArea(choicesNow, { onarm }) {
  const area = h("div", { class: "actions", "data-testid": "actions" });
  let armed = false;

  function show() {
    armed = false;
    fill(area, choicesNow().map(buttonOf));
  }
  function buttonOf(choice) {
    return button(choice.label, () => pressed(choice), {
      class: { recommended: "primary", alternative: "secondary", decline: "decline" }[choice.role],
      "aria-disabled": choice.blocked ? "true" : null,
      "data-testid": `action-${choice.role}`,
    });
  }
  function pressed(choice) {
    if (choice.blocked) choice.blocked();
    else if (!choice.ready()) return;
    else if (choice.gesture === "tap") choice.send();
    else arm(choice);
  }
  function arm(choice) {
    armed = true;
    onarm(choice);
    const back = () => {
      show();
      [...area.children].find((node) => node.textContent === choice.label)?.focus();
    };
    const { nodes, focus } = confirmation(choice.gesture, choice.label, { done: choice.send, back });
    fill(area, nodes, choicesNow().filter((one) => one.role === "decline").map(buttonOf));
    focus();
  }
  show();
  return { node: area, show, isArmed: () => armed };
}
