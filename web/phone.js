/* Opening Silas for a phone: which way, trusting this computer's certificate, and pairing. */

import { styled } from "./asking.js";
import { command, getJson, postJson } from "./api.js";
import { button, fill, h, toast } from "./dom.js";
import { locale, t } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";

/** The part of Devices about phones; draws itself anew after each change. */
export async function showPhone(place) {
  await styled();
  draw(place, await getJson("/devices/phone"));
}

function draw(place, view) {
  const body = view.way ? opened(place, view) : closed(place, view);
  fill(place, h("h2", { class: "label-title" }, t("Your phone")), body);
}

function closed(place, view) {
  const chosen = { way: view.ways.find((one) => !one.why_not)?.value ?? "", address: view.addresses[0]?.address ?? "" };
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const go = button(t("Open it for my phone"), () => acting(go, problem, async () => {
    const address = chosen.way === "tailscale" ? "" : chosen.address;
    const subject = [chosen.way, address].filter(Boolean).join(" ");
    draw(place, await command("/devices/phone", "phone", subject, { way: chosen.way, address }));
    place.querySelector("button")?.focus();
  }), { class: "primary", "data-testid": "phone-open" });
  return [
    h("p", {}, t("Silas answers on this computer only. It can answer your phone, too, over HTTPS, until it ends or you turn that off.")),
    h("div", { class: "options", role: "radiogroup", "aria-label": t("How your phone reaches Silas") },
      view.ways.map((one) => option("phone-way", one.value, one.value === chosen.way, one.label, [one.words, one.why_not].filter(Boolean).join(" "),
        () => { chosen.way = one.value; }, Boolean(one.why_not)))),
    view.addresses.length > 1 && h("div", { class: "options", role: "radiogroup", "aria-label": t("In which network") },
      view.addresses.map((one, at) => option("phone-address", one.address, at === 0, one.address, t("the interface {interface}", { interface: one.interface }),
        () => { chosen.address = one.address; }))),
    problem, h("div", { class: "actions" }, go)];
}

function option(name, value, checked, label, words, onchange, disabled = false) {
  return h("label", { class: "option" }, h("input", { type: "radio", name, value, checked, disabled, onchange }),
    h("span", {}, h("b", {}, label), h("span", { class: "small block" }, words)));
}

function opened(place, view) {
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const link = h("div", { class: "link-place", role: "status" });
  const pair = button(t("Show the pairing code"), () => acting(pair, problem, async () => {
    const made = await command("/devices/phone/link", "link", "phone");
    fill(link, h("p", {}, t("Scan this with the phone. It works once, for ten minutes. Whoever opens it can speak for you.")),
      code(made.code, t("QR code of the pairing link")), h("p", { class: "small fingerprint" }, made.link));
    fill(pair, t("Show a fresh one"));
  }), { class: "primary", "data-testid": "phone-pair" });
  const off = button(t("Turn it off"), () => acting(off, problem, async () => {
    draw(place, await postJson("/devices/phone/close"));
    toast(t("Silas answers on this computer only."));
  }), { class: "secondary", "data-testid": "phone-close" });
  const way = view.ways.find((one) => one.value === view.way);
  return [
    h("p", {}, t("Open for your phone at "), h("b", { class: "fingerprint" }, view.origin), "."),
    h("p", { class: "small" }, way?.words), view.words && h("p", { role: "status" }, view.words),
    view.steps && [h("h3", { class: "step-title" }, t("1. Trust this computer, once")),
      h("p", {}, t("Scan this with the phone’s camera; the page that opens has the steps for Android and iPhone.")),
      code(view.steps_code, t("QR code of the page with the certificate")), h("p", { class: "small fingerprint" }, view.steps),
      h("p", {}, t("The fingerprint (SHA-256) that the phone shows must be this one. If it is not, remove the certificate from the phone:")),
      h("p", { class: "fingerprint" }, h("code", {}, view.fingerprint.split(/(?<=:)/).map((pair) => [pair, h("wbr")])))],
    h("h3", { class: "step-title" }, view.steps ? t("2. Pair the phone") : t("Pair the phone")), link,
    problem, h("div", { class: "actions" }, pair, off),
    view.until && h("p", { class: "small" }, t("The certificate counts until {date}. If the phone says that it is not valid yet, or expired, look at the phone’s clock first.", { date: date(view.until) }))];
}

const date = (iso) => new Date(iso).toLocaleDateString(locale, { dateStyle: "long" });

async function acting(control, problem, act) {
  control.disabled = true;
  problem.hidden = true;
  try {
    await act();
  } catch (error) {
    problem.textContent = error.message;
    problem.hidden = false;
  } finally {
    control.disabled = false;
  }
}

/** A QR code as a picture, dark on white whatever the theme: phones read no other reliably. */
function code(rows, label) {
  const svg = document.createElementNS(SVG, "svg");
  const part = (name, given) => {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(given)) node.setAttribute(key, value);
    svg.append(node);
  };
  svg.setAttribute("viewBox", `0 0 ${rows.length} ${rows.length}`);
  svg.setAttribute("class", "qr");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  const dark = rows.flatMap((row, y) => [...row.matchAll(/1+/g)].map((run) => `M${run.index} ${y}h${run[0].length}v1h-${run[0].length}z`));
  part("rect", { width: rows.length, height: rows.length, fill: "#fff" });
  part("path", { d: dark.join(""), fill: "#000", "shape-rendering": "crispEdges" });
  return svg;
}
