/* Memory under More: found, added, corrected, forgotten; how far each is trusted, and why. */

import { canonicalJson } from "./canonical.js";
import { command, getJson } from "./api.js";
import { Misfit, problemPlace, trying, twice } from "./asking.js";
import { button, fill, h, toast } from "./dom.js";
import { dayOf } from "./time.js";
import { t } from "./words.js";

const TRUST = { constitutional: t("Who Silas is"), verified: t("Confirmed"), working: t("Not confirmed") };

const PLACES = { "channel:web": t("this page"), "channel:cli": t("the terminal") };

export async function showMemory(place) {
  const list = h("ul", { class: "rows", "data-testid": "memories" });
  const said = h("p", { class: "small", role: "status" });
  const problem = problemPlace();
  const field = h("input", { type: "search", id: "memory-query", autocomplete: "off", dir: "auto" });
  const search = h("button", { class: "secondary" }, t("Search"));
  const look = async () => {
    const found = await getJson(`/memory?q=${encodeURIComponent(field.value)}`);
    const count = found.memories.length;
    const many = `${count} ${count === 1 ? "memory" : "memories"}`;
    fill(said, found.words || (field.value.trim() ? many : (count === 1 ? t("The newest memory") : t("The newest {many}", { many }))));
    fill(list, found.memories.map((one) => row(one, look)));
  };
  fill(place,
    h("form", { class: "field search", onsubmit: (event) => {
      event.preventDefault();
      trying([search], problem, look, field);
    } }, h("label", { for: "memory-query" }, t("Search what Silas remembers")),
    h("div", { class: "with-button" }, field, search), problem),
    adding(look), said, list);
  await look();
}

function adding(look) {
  const open = button(t("Add a memory"), () => {
    open.hidden = true;
    const close = () => { fill(form); open.hidden = false; open.focus(); };
    fill(form, writing("memory-new", t("What should Silas remember?"), "", t("Remember it"), close, async (text) => {
      const { words } = await command("/memory", "remember", text, { text });
      toast(words);
      close();
      await look();
    }));
    form.querySelector("textarea")?.focus();
  }, { class: "secondary", "data-testid": "memory-add" });
  const form = h("div", {});
  return [open, form];
}

/** A field for words of the owner's, which are signed as they stand. */
function writing(id, label, before, verb, close, send) {
  const field = h("textarea", { id, rows: "3", maxlength: "4000", dir: "auto", value: before });
  const problem = problemPlace();
  const go = h("button", { class: "primary" }, verb);
  return h("form", { class: "field", onsubmit: (event) => {
    event.preventDefault();
    trying([go], problem, async () => {
      const text = field.value.trim();
      if (!text) throw new Misfit(field, t("Write what Silas should remember."));
      await send(text);
    }, field);
  } }, h("label", { for: id }, label), field, problem,
  h("p", { class: "small" }, t("It counts as your own words: this device signs them.")),
  h("div", { class: "controls" }, go, button(t("Leave it"), close, { class: "quiet" })));
}

function row(one, look) {
  const place = h("div", {});
  const path = `/memory/${encodeURIComponent(one.id)}`;
  const end = twice({
    label: t("Forget"), of: "", named: t("Forget {name}", { name: one.text.slice(0, 80) }), yes: t("Yes, forget it"), no: t("Keep it"), done: look,
    act: () => command(`${path}/forget`, "forget", one.id),
  });
  const correct = button(t("Correct"), () => {
    const close = () => { fill(place); correct.focus(); };
    fill(place, writing(`correct-${one.id}`, t("What is right"), one.text, t("Put it in its place"), close, async (text) => {
      const { words } = await command(path, "correct", canonicalJson({ id: one.id, text }), { text });
      toast(words);
      await look();
    }));
    place.querySelector("textarea")?.focus();
  }, { class: "quiet", "aria-label": t("Correct {text}", { text: one.text.slice(0, 80) }) });
  const from = one.sources.length ? t(" It came from {sources}.", { sources: one.sources.map((source) => PLACES[source] ?? source).join(", ") }) : "";
  return h("li", { class: "row tall", "data-trust": one.trust },
    h("p", { dir: "auto" }, one.text),
    h("details", { class: "why" }, h("summary", { class: "small" }, `${TRUST[one.trust] ?? one.trust} · ${dayOf(one.at)}`),
      h("p", { class: "small", dir: "auto" }, one.trust_words, from)),
    one.fixed ? null : [h("div", { class: "row-actions" }, correct, end.foot), end.problem, place]);
}
