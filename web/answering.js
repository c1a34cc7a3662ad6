/* Who answers, under More: the provider with its key, a server by its address, or the built-in one. */

import { canonicalJson } from "./canonical.js";
import { command, getJson, postJson } from "./api.js";
import { Misfit, problemPlace, styled, trying, twice } from "./asking.js";
import { button, fill, h, icon } from "./dom.js";
import { kindOf } from "./kinds.js";
import { askedSecret } from "./setup.js";
import { answer } from "./socket.js";
import { on } from "./state.js";
import { onDay } from "./time.js";
import { t } from "./words.js";

/** @type {any} */
let shown = null;

// what waits for a yes elsewhere is looked at again when it was answered; nobody is writing then
on("models cards", () => {
  if (shown?.isConnected && shown.querySelector("[data-testid=asks]")) showAnswering(shown);
});

const small = (words) => h("p", { class: "small" }, words);

export async function showAnswering(place, said = "") {
  await styled();
  const facts = await getJson("/models");
  const again = (words = "") => showAnswering(place, words);
  const choose = async (provider, name = "", server = "") => {
    const chosen = { provider, name, server };
    const done = await command("/models", "models", canonicalJson(chosen), chosen);
    if (done.asks) location.hash = "#/review"; // that is where the question is
    else await again();
    return done;
  };
  shown = place;
  fill(place,
    h("h2", { class: "label-title" }, t("In force now")),
    h("dl", { class: "facts wide", "data-testid": "in-force" }, facts.roles.map((role) => h("div", {}, h("dt", {}, role.name),
      h("dd", { dir: "auto" }, role.model, role.server && h("span", { class: "small block" }, role.server))))),
    facts.asks && h("p", { class: "sent", role: "status", "data-testid": "asks" }, icon("check"),
      h("span", {}, t("It was tried. "), h("a", { href: "#/review" }, t("Your yes is asked for in Review")), ".")),
    h("h2", { class: "label-title" }, t("A server of yours")), ofYours(facts, choose),
    h("h2", { class: "label-title" }, "OpenRouter"), hosted(facts, choose, again, said),
    h("h2", { class: "label-title" }, t("Without a model")), builtIn(facts, choose),
    h("p", { class: "small", dir: "auto" }, t("A choice is written into {file}, and counts at once. The former file is kept beside it.", { file: facts.file })));
}

/** A server by its address; one that is not on this machine is shown what you write. */
function ofYours(facts, choose) {
  const now = facts.provider === "local" ? facts.roles[0] : { model: "", server: "" };
  const server = h("input", { id: "server", type: "text", inputmode: "url", autocomplete: "off", spellcheck: "false", maxlength: "200", placeholder: facts.example, value: now.server });
  const name = h("input", { id: "model-name", type: "text", autocomplete: "off", spellcheck: "false", maxlength: "200", placeholder: "qwen3:8b", value: now.model });
  const problem = problemPlace();
  const go = h("button", { class: "secondary", "data-testid": "try-server" }, t("Try it"));
  const found = h("div", { class: "chips", role: "status" });
  const look = button(t("Look on this computer"), () => trying([look], problem, async () => {
    fill(found, small(t("Looking …")));
    const offers = await command("/models/find", "find_models", "models").catch((error) => { fill(found); throw error; });
    fill(found, offers.length ? offers.map((one) => button(one.name, () => {
      server.value = one.server;
      name.value = one.name;
      go.focus();
    }, { class: "chip", title: one.words }))
      : small(t("No server was found on this computer. Start one, such as Ollama, or write its address.")));
  }), { class: "quiet", "data-testid": "find-servers" });
  return h("form", { class: "page-body", onsubmit: (event) => {
    event.preventDefault();
    trying([go, look], problem, async () => {
      const given = { name: name.value.trim(), server: server.value.trim() };
      if (!given.name || !given.server) throw new Misfit(given.server ? name : server, t("Write the address of the server and the name of the model."));
      await choose("local", given.name, given.server);
    }, (field) => ({ name, server })[field]);
  } },
  h("div", { class: "field" }, h("label", { for: "server" }, t("Address")), server),
  h("div", { class: "field" }, h("label", { for: "model-name" }, t("Model")), name),
  found, problem, h("div", { class: "controls" }, go, look),
  small(t("One word is asked of it first. Then a card says who is shown what, and nothing changes before your yes.")));
}

function hosted(facts, choose, again, said) {
  const { key } = facts;
  const problem = problemPlace();
  const form = h("div", {});
  const enter = (words) => button(words, () => { fill(form, keyForm(again)); form.querySelector("input")?.focus(); }, { class: "secondary", "data-testid": "enter-key" });
  const check = button(t("Check it now"), () => trying([check], problem, async () => {
    await again((await command("/models/key/check", "check_key", "openrouter")).words);
  }), { class: "quiet", "data-testid": "check-key" });
  const name = t("the key");
  const end = key.place === "stored" && twice({
    label: t("Remove"), of: "", named: t("Remove {name}", { name }), yes: t("Yes, remove it"), no: t("Keep it"), done: () => again(),
    act: () => command(`/secrets/${encodeURIComponent(key.ref_id)}/remove`, "remove_secret", key.ref_id),
  });
  const use = facts.provider === "openrouter" || key.place === "none" ? null
    : button(t("Let it answer"), () => trying([use], problem, () => choose("openrouter")), { class: "secondary", "data-testid": "use-openrouter" });
  return h("div", { class: "page-body", "data-testid": "openrouter" }, h("p", { "data-testid": "key-standing" }, standing(key)),
    h("div", { class: "row-actions" }, use, key.place === "stored" && [enter(t("Replace")), check, end.foot],
      key.place === "environment" && check, key.place === "none" && enter(t("Enter a key"))),
    end && end.problem, problem, said && h("p", { class: "small", role: "status", "data-testid": "key-said" }, said), form);
}

function standing(key) {
  if (key.place === "none") return t("There is no key. With one, language models answer over the internet, and are shown what you write.");
  if (key.place === "environment") return t("Its key stands in the environment of this computer; it is replaced and removed there.");
  if (key.refused) return t("The key is kept, but OpenRouter does not know it: replace it.");
  return key.checked_at ? t("The key is kept. OpenRouter knew it {day}.", { day: onDay(key.checked_at) })
    : t("The key is kept, and not checked: OpenRouter could not be asked.");
}

/** The value goes straight into the key store, once OpenRouter has said that it knows it. */
function keyForm(again) {
  const field = h("input", { id: "new-key", type: "password", autocomplete: "off", spellcheck: "false", placeholder: "sk-or-…" });
  const problem = problemPlace();
  const go = h("button", { class: "primary" }, t("Check and keep it"));
  return h("form", { class: "field", onsubmit: (event) => {
    event.preventDefault();
    trying([go], problem, async () => {
      const value = field.value.trim();
      if (!value) throw new Misfit(field, t("Paste the key."));
      const { ref_id } = await command("/models/key", "provider_key", "openrouter");
      const card = await askedSecret(ref_id);
      try {
        await postJson(`/secrets/${encodeURIComponent(ref_id)}`, { value });
      } catch (error) {
        answer(card, kindOf(card).answer(card, null, { stored: false }), t("Not stored"));
        throw error;
      }
      answer(card, kindOf(card).answer(card, null, { stored: true }), t("Stored"));
      field.value = "";
      await again();
    }, field);
  } }, h("label", { for: "new-key" }, t("OpenRouter key")), h("div", { class: "with-button" }, field, go), problem,
  small(t("Kept in this computer’s key store. No model ever sees it.")));
}

function builtIn(facts, choose) {
  const words = small(t("Silas follows written plans only; it needs no key and no network."));
  if (facts.provider === "runbook") return [words];
  const end = twice({
    label: t("Answer without a model"), of: "", yes: t("Yes, without a model"), no: t("Leave it"), done: () => undefined,
    act: () => choose("runbook"),
  });
  return [words, end.foot, end.problem];
}
