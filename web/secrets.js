/* Secrets under More: their names, one more, and removing one. A value is shown nowhere. */

import { command, getJson, postJson } from "./api.js";
import { Misfit, problemPlace, trying, twice } from "./asking.js";
import { fill, h, toast } from "./dom.js";
import { kindOf } from "./kinds.js";
import { askedSecret } from "./setup.js";
import { answer } from "./socket.js";
import { onDay } from "./time.js";
import { t } from "./words.js";

export async function showSecrets(place) {
  const { secrets } = await getJson("/secrets");
  const again = () => showSecrets(place);
  fill(place,
    h("p", {}, t("They lie in this computer’s key store. A tool is given one for a single run, where you approved a plan that names it, and a server of tools where you chose it; no model ever sees it.")),
    secrets.length ? h("ul", { class: "rows", "data-testid": "secrets" }, secrets.map((one) => row(one, again)))
      : h("p", { class: "small" }, t("There are no secrets.")),
    h("h2", { class: "label-title" }, t("Add one")), adding(again));
}

function row(one, again) {
  const end = twice({
    label: t("Remove"), of: one.name, named: t("Remove {name}", { name: one.name }), yes: t("Yes, remove it"), no: t("Keep it"), done: again,
    act: () => command(`/secrets/${encodeURIComponent(one.ref_id)}/remove`, "remove_secret", one.ref_id),
  });
  const used = one.used_at ? t("last used {day}", { day: onDay(one.used_at) }) : t("not used yet");
  const servers = one.servers.join(", ");
  return h("li", { class: "row tall", "data-secret": one.name }, h("p", {}, h("b", {}, one.name)),
    h("p", { class: "small" }, t("Added {day} · {used}", { day: onDay(one.added_at), used })),
    servers ? h("p", { class: "small" }, t("Given to servers of tools: {servers}. Without it they do not start.", { servers })) : null, end.foot, end.problem);
}


/** Its name goes to Silas, which asks for the value; the value goes straight into the key store. */
function adding(again) {
  const name = h("input", { id: "secret-name", type: "text", autocomplete: "off", spellcheck: "false", maxlength: "64", placeholder: "NOTION_TOKEN" });
  const value = h("input", { id: "secret-value", type: "password", autocomplete: "off", spellcheck: "false" });
  const problem = problemPlace();
  const go = h("button", { class: "primary" }, t("Keep it"));
  return h("form", { class: "page-body", onsubmit: (event) => {
    event.preventDefault();
    trying([go], problem, async () => {
      const label = name.value.trim();
      if (!label || !value.value) throw new Misfit(label ? value : name, t("Give the secret a name and a value."));
      const { ref_id } = await command("/secrets", "secret", label, { label });
      const card = await askedSecret(ref_id);
      try {
        await postJson(`/secrets/${encodeURIComponent(ref_id)}`, { value: value.value });
      } catch (error) {
        answer(card, kindOf(card).answer(card, null, { stored: false }), t("Not stored"));
        throw error;
      }
      answer(card, kindOf(card).answer(card, null, { stored: true }), t("Stored"));
      value.value = "";
      toast(t("{label} is in the key store.", { label }));
      await again();
    }, (field) => ({ label: name, value })[field]);
  } },
  h("div", { class: "field" }, h("label", { for: "secret-name" }, t("Name")), name),
  h("div", { class: "field" }, h("label", { for: "secret-value" }, t("Value")), value),
  problem, h("div", { class: "controls" }, go));
}
