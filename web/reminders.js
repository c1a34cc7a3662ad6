/* Reminders under More: what is to come, one more in a sentence, moved and cancelled. What is said is
   shown to the minute first; only that counts. */

import { command, getJson, postJson } from "./api.js";
import { Misfit, problemPlace, trying, twice } from "./asking.js";
import { button, fill, h, toast } from "./dom.js";
import { always, live } from "./live.js";
import { t } from "./words.js";

export async function showReminders(place, free = always) {
  const found = await getJson("/reminders");
  if (!free()) return;
  const again = () => showReminders(place);
  live(place, (still) => showReminders(place, still));
  const made = h("div", { class: "shown-place" });
  fill(place,
    h("p", {}, t("Silas tells you here at the time you say, for as long as it runs.")),
    sentence("reminder-new", t("What to remind you of, and when"), t("at nine: call Grandma"), t("Read it"),
      (text) => postJson("/reminders/read", { text }), made, t("Remind me then"), again),
    made,
    h("h2", { class: "label-title" }, t("To come")),
    found.words && h("p", { class: "small warning-text" }, found.words),
    found.reminders.length ? h("ul", { class: "rows", "data-testid": "reminders" }, found.reminders.map((one) => row(one, again)))
      : h("p", { class: "small" }, t("Nothing is to come.")));
}

/** A field for words that say when; what was understood is shown in `shownAt`, with its yes. */
function sentence(id, label, example, verb, read, shownAt, yes, done) {
  const field = h("input", { id, type: "text", maxlength: "500", autocomplete: "off", dir: "auto", placeholder: example });
  const problem = problemPlace();
  const go = h("button", { class: "secondary" }, verb);
  field.oninput = () => fill(shownAt);
  return h("form", { class: "field", onsubmit: (event) => {
    event.preventDefault();
    trying([go], problem, async () => {
      fill(shownAt);
      if (!field.value.trim()) throw new Misfit(field, t("Say it in one sentence, for example: ") + example + ".");
      fill(shownAt, shown(await read(field.value.trim()), yes, () => { fill(shownAt); field.focus(); }, done));
      shownAt.querySelector("button")?.focus();
    }, field);
  } }, h("label", { for: id }, label), h("div", { class: "with-button" }, field, go), problem);
}

function shown(understood, yes, no, done) {
  const problem = problemPlace();
  const go = button(yes, () => trying([go], problem, async () => {
    await command(`/reminders/shown/${encodeURIComponent(understood.id)}`, "remind", understood.id);
    toast(yes === t("Move it there") ? t("It is moved.") : t("Silas will remind you."));
    await done();
  }), { class: "primary", "data-testid": "reminder-yes" });
  return h("section", { class: "card shown", "data-testid": "reminder-shown" },
    h("p", { class: "step-title", dir: "auto" }, h("b", {}, understood.title)),
    h("p", {}, understood.words),
    understood.times.length ? h("ul", { class: "plainlist small" }, understood.times.map((time) => h("li", {}, time))) : null,
    problem, h("div", { class: "controls" }, go, button(t("Not this"), no, { class: "quiet" })));
}

function row(one, again) {
  const moving = h("div", { class: "shown-place" });
  const shownAt = h("div", { class: "shown-place" });
  const end = twice({
    label: t("Cancel"), of: "", named: t("Cancel {name}", { name: one.text }), yes: t("Yes, cancel it"), no: t("Keep it"), done: again,
    act: () => command(`/reminders/${encodeURIComponent(one.id)}/cancel`, "cancel_reminder", one.id),
  });
  const move = button(t("Move"), () => {
    if (moving.firstChild) {
      fill(moving);
      fill(shownAt);
      return;
    }
    fill(moving, sentence(`move-${one.id}`, t("When instead"), t("on Friday at ten"), t("Read it"),
      (text) => postJson(`/reminders/${encodeURIComponent(one.id)}/read`, { text }), shownAt, t("Move it there"), again));
    moving.querySelector("input")?.focus();
  }, { class: "quiet", "aria-label": t("Move {text}", { text: one.text }) });
  return h("li", { class: "row tall" },
    h("p", { dir: "auto" }, h("b", {}, one.text)),
    h("p", { class: "small" }, [one.words, one.again].filter(Boolean).join(" · ")),
    h("div", { class: "row-actions" }, move, end.foot), end.problem, moving, shownAt);
}
