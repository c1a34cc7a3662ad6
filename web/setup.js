/* The first run: welcome, who answers, who you are, done. One card at a time; nothing is typed that
   need not be. Who you are is under More, too. */

import { canonicalBytes, sha256Hex } from "./canonical.js";
import { command, getJson, postJson } from "./api.js";
import { problemPlace, styled, trying } from "./asking.js";
import { add, button, fill, h, icon } from "./dom.js";
import { kindOf } from "./kinds.js";
import { answer } from "./socket.js";
import { emit, state } from "./state.js";
import { t } from "./words.js";

/** The cards of the first run, over everything else. */
export async function firstRun(place) {
  /** @type {((node: any, given: any) => void)[]} */
  const steps = [welcome, provider, identity, done];
  const choice = { provider: "runbook", name: "", email: "", phone: "" };
  let facts = null;
  const show = (n) => {
    const node = h("div", { class: "card setup-card" },
      h("p", { class: "steps-dots", role: "img", "aria-label": t("Step {n} of {steps}", { n: n + 1, steps: steps.length }) },
        steps.map((_, at) => h("i", { class: at === n ? "here" : at < n ? "past" : null }))));
    steps[n](node, { choice, facts, next: () => show(n + 1), end: () => leave(place) });
    fill(place, node);
    node.querySelector("h1")?.focus();
  };
  await styled();
  facts = await getJson("/onboarding");
  Object.assign(choice, kept(facts));
  document.body.dataset.setup = "yes";
  place.hidden = false;
  show(0);
}

function kept(facts) {
  const { provider: chosen, name = "", email = "", phone = "" } = facts;
  return { provider: chosen || "runbook", name, email, phone };
}

function leave(place) {
  delete document.body.dataset.setup;
  place.hidden = true;
  fill(place);
  state.onboarding = false;
  emit("all");
  location.hash = "#/stream";
}

function welcome(node, { next }) {
  node.append(h("h1", { tabindex: "-1", class: "intent" }, t("I’m Silas. Let’s get you set up.")),
    h("p", {}, t("I do things for you on this computer. You see every plan before it runs, and nothing runs without your yes.")),
    h("div", { class: "actions" }, button(t("Get started"), next, { class: "primary" })));
}

function provider(node, { choice, facts, next }) {
  const after = h("div", { class: "after-choice" });
  const go = button(t("Continue"), next, { class: "primary" });
  node.append(h("h1", { tabindex: "-1", class: "intent" }, t("Who should do the thinking?")),
    choices(facts, choice, () => askKey(after, choice, facts, go)), after,
    h("div", { class: "actions" }, go));
  askKey(after, choice, facts, go);
}

function choices(facts, choice, changed) {
  return h("div", { class: "options", role: "radiogroup", "aria-label": t("Who answers") }, facts.providers.map((one) => {
    const box = h("input", { type: "radio", name: "provider", value: one.value, checked: one.value === choice.provider,
      onchange: () => { choice.provider = one.value; changed(); } });
    return h("label", { class: "option" }, box, h("span", {}, h("b", {}, one.label), h("span", { class: "small block" }, one.words)));
  }));
}

/** The field for the provider's key; it goes to the key store and is tried out at once. */
function askKey(place, choice, facts, go) {
  const wants = choice.provider === "openrouter" && facts.key !== "stored";
  fill(go, wants ? t("Continue without a key") : t("Continue"));
  if (choice.provider === "local") return fill(place, h("p", { class: "small" },
    t("You name it at the end, or at any time under More, Who answers.")));
  if (!wants) return fill(place, choice.provider === "runbook" && h("p", { class: "small" },
    t("Without a model Silas follows written plans only. That is safe and honest, and you can change it at any time.")));
  const field = h("input", { id: "provider-key", type: "password", autocomplete: "off", spellcheck: "false", placeholder: "sk-or-…", "data-testid": "provider-key" });
  const said = problemPlace();
  const check = h("button", { class: "secondary" }, t("Check"));
  const form = h("form", { class: "field", onsubmit: (event) => { event.preventDefault(); trying([check], said, keep, field); } },
    h("label", { for: "provider-key" }, t("OpenRouter key")), h("div", { class: "with-button" }, field, check), said,
    h("p", { class: "small" }, t("Kept in this computer’s key store. No model ever sees it.")));
  async function keep() {
    try {
      await choose(choice);
      const asked = await askedSecret();
      await postJson(`/secrets/${encodeURIComponent(asked.ref_id)}`, { value: field.value });
      answer(asked, kindOf(asked).answer(asked, null, { stored: true }), t("Stored"));
      Object.assign(facts, await getJson("/onboarding"));
      fill(place, h("p", { class: "sent" }, icon("check"), h("span", {}, t("The key is kept. {words}", { words: facts.words }))));
      fill(go, t("Continue"));
    } finally {
      field.value = "";
    }
  }
  return fill(place, form);
}

/** The card for a secret comes over the live connection; wait for it a little. */
export function askedSecret(refId = "") {
  const until = Date.now() + 8000;
  return new Promise((resolve, reject) => {
    const look = () => {
      const found = state.cards.find((card) => card.type === "secure_input_request" && (!refId || card.ref_id === refId));
      if (found) resolve(found);
      else if (Date.now() > until) reject(new Error(t("Silas did not ask for it. Try again.")));
      else setTimeout(look, 100);
    };
    look();
  });
}

export async function choose({ provider: chosen, name, email, phone }) {
  const choice = { provider: chosen, name, email, phone };
  return command("/onboarding", "onboarding", await sha256Hex(canonicalBytes(choice)), choice);
}

const FIELDS = [["name", t("Name"), "name", "text"], ["email", t("E-mail"), "email", "email"], ["phone", t("Phone"), "tel", "tel"]];

const whoField = (name) => document.getElementById(`who-${name}`);

function identityFields(choice) {
  return FIELDS.map(([name, words, autocomplete, type]) => {
    const field = h("input", { id: `who-${name}`, type, autocomplete, value: choice[name], maxlength: "200", dir: "auto", oninput: () => { choice[name] = field.value; } });
    return h("div", { class: "field" }, h("label", { for: `who-${name}` }, words), field);
  });
}

function identity(node, { choice, next }) {
  const problem = problemPlace();
  const go = button(t("Continue"), () => trying([go], problem, async () => {
    await choose(choice);
    next();
  }, whoField), { class: "primary" });
  add(node, [h("h1", { tabindex: "-1", class: "intent" }, t("Who are you?")),
    h("p", {}, t("So that I find the right accounts later. All of it is optional and stays on this computer.")),
    identityFields(choice), problem,
    h("div", { class: "actions" }, go)]);
}

function done(node, { choice, end }) {
  node.append(h("h1", { tabindex: "-1", class: "intent" }, t("I’m ready.")),
    h("p", {}, t("Tell me what to connect first, or I’ll figure it out.")),
    h("div", { class: "actions" }, button(t("Go to the Stream"), end, { class: "primary" }),
      choice.provider === "local" && button(t("Name your server"), () => { end(); location.hash = "#/more/answering"; }, { class: "secondary" })));
}

/** Who you are, under More. */
export async function showSetup(place) {
  await styled();
  const choice = kept(await getJson("/onboarding"));
  const problem = problemPlace();
  const after = h("div", {});
  const save = button(t("Keep these"), () => trying([save], problem, async () => {
    await choose(choice);
    fill(after, h("p", { class: "sent" }, icon("check"), t("Kept.")));
  }, whoField), { class: "primary" });
  fill(place, identityFields(choice), problem, save, after,
    h("p", { class: "small" }, h("a", { href: "#/more/answering" }, t("Who answers"))));
}
