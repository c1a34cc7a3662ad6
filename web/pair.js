/* Pairing: the link's token is after the #, so it was never sent. It is read, taken out of the
   address, and redeemed once, together with a key that this browser makes for itself. */

import { keepToken, postJson } from "./api.js";
import { Misfit, problemPlace, trying } from "./asking.js";
import { enrolment, keepKey, makeKey, publicBytes } from "./keys.js";
import { fill, h, icon } from "./dom.js";
import { t, translate } from "./words.js";

translate(document.body);
const token = location.hash.slice(1);
history.replaceState(null, "", "/pair");
const place = document.getElementById("pair");

function deviceName() {
  const agent = navigator.userAgent;
  /** @type {[RegExp, string][]} */
  const machines = [[/iPhone/, "iPhone"], [/iPad/, "iPad"], [/Android/, t("Android phone")], [/Macintosh/, "Mac"],
    [/Windows/, t("Windows computer")], [/CrOS/, "Chromebook"], [/Linux/, t("Linux computer")]];
  /** @type {[RegExp, string][]} */
  const browsers = [[/Edg\//, "Edge"], [/Firefox\//, "Firefox"], [/Chrom(e|ium)\//, "Chrome"], [/Safari\//, "Safari"]];
  const browser = browsers.find(([m]) => m.test(agent));
  const machine = machines.find(([m]) => m.test(agent));
  return machine ? t("{browser} on {machine}", { browser: browser?.[1] ?? t("Browser"), machine: machine[1] }) : browser?.[1] ?? t("Browser");
}

async function begin() {
  if (!token) return noToken();
  const pair = await makeKey();
  const name = h("input", { id: "device-name", type: "text", value: deviceName(), maxlength: "64", autocomplete: "off", dir: "auto" });
  const secret = h("input", { id: "auth-token", type: "password", autocomplete: "off" });
  const far = h("div", { class: "field", hidden: true }, h("label", { for: "auth-token" }, t("The auth_token of Silas’s configuration")), secret);
  const problem = problemPlace();
  const go = h("button", { class: "primary", "data-testid": "pair" }, t("Pair this browser"));
  const form = h("form", { onsubmit: (event) => { event.preventDefault(); redeem(pair, { name, secret, far }, go, problem); } },
    h("div", { class: "field" }, h("label", { for: "device-name" }, t("What to call it")), name),
    far, problem, h("div", { class: "actions" }, go));
  fill(place, h("h1", { class: "intent", tabindex: "-1" }, t("Let this browser speak for you?")),
    h("p", {}, pair
      ? t("It makes a key that never leaves it, and signs what you say and approve with it.")
      : t("It can ask, look, stop and say no.")),
    pair ? null : h("p", { class: "warning" }, icon("alert"), h("span", {},
      isSecureContext
        ? t("This browser cannot make a signing key, so nothing can be approved on it. A current Chrome, Firefox or Safari can.")
        : t("Over plain HTTP no browser makes a signing key, so nothing can be approved here. Open Silas over HTTPS, or on its own computer."))),
    form);
  return undefined;
}

function redeem(pair, { name, secret, far }, go, problem) {
  return trying([go], problem, async () => {
    try {
      const answer = await postJson("/pair", {
        token, name: name.value.trim() || t("Browser"),
        public_key: pair ? await publicBytes(pair) : null,
        signature: pair ? await enrolment(pair, token) : null,
        auth_token: secret.value,
      });
      await keepKey(answer.level === "owner" ? pair : null);
      keepToken(answer.page_token);
    } catch (error) {
      if (error.code !== "E_CHANNEL_PAIRING_AUTH") throw error;
      far.hidden = false; // asked for only where it is wanted
      throw new Misfit(secret, error.message);
    }
    fill(place, h("div", { class: "pair-done" }, icon("check")), h("h1", { class: "intent" }, t("Paired.")),
      h("p", { role: "status" }, t("Opening Silas …")));
    location.replace("/");
  });
}

function noToken() {
  fill(place, h("h1", { class: "intent" }, t("This link is not complete.")),
    h("p", {}, t("Open the whole link that Silas printed. “Devices” under “More” on a paired browser gives a fresh one, and so does this in a terminal:")),
    h("pre", { class: "code" }, "silas devices link"));
}

begin();
