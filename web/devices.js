/* The paired browsers: which they are, ending a pairing, and letting another one in. */

import { command, getJson } from "./api.js";
import { Misfit, problemPlace, trying } from "./asking.js";
import { canonicalJson } from "./canonical.js";
import { button, fill, h, toast } from "./dom.js";
import { showPhone } from "./phone.js";
import { onDay } from "./time.js";
import { t } from "./words.js";

export async function showDevices(place) {
  const devices = await getJson("/devices");
  const link = h("div", { class: "link-place", role: "status" });
  const phone = h("section", { class: "phone" });
  const add = button(t("Pair another device"), () => ask(add, link), { class: "secondary" });
  fill(place,
    h("p", {}, t("Each of these can see what you see. One with a key can also say yes for you.")),
    h("ul", { class: "rows" }, devices.map((device) => row(place, device))),
    add, link, phone);
  await showPhone(phone);
}

function row(place, device) {
  const level = device.revoked ? t("No longer paired") : device.level === "owner" ? t("Has a key: can say yes") : t("No key: can ask, look, stop and say no");
  const seen = device.seen_at && !device.this ? t("last seen {on}", { on: onDay(device.seen_at) }) : "";
  const paired = device.paired_at ? t("paired {on}", { on: onDay(device.paired_at) }) : "";
  const end = button(t("Remove"), () => remove(), { class: "quiet danger", "aria-label": t("Remove {name}", { name: device.name }) });
  const foot = h("div", { class: "row-foot" });
  const call = button(t("Rename"), () => rename(), { class: "quiet", "aria-label": t("Rename {name}", { name: device.name }) });
  const show = () => fill(foot, device.revoked ? null : [call, end]);
  function rename() {
    const id = `name-${device.id}`;
    const field = h("input", { id, type: "text", maxlength: "60", autocomplete: "off", dir: "auto", value: device.name });
    const problem = problemPlace();
    const keep = h("button", { class: "secondary" }, t("Keep it"));
    fill(foot, h("form", { class: "field", onsubmit: (event) => {
      event.preventDefault();
      trying([keep], problem, async () => {
        const name = field.value.trim();
        if (!name) throw new Misfit(field, t("Give the device a name."));
        const done = await command(`/devices/${encodeURIComponent(device.id)}/name`, "name", canonicalJson({ id: device.id, name }), { name });
        toast(done.words);
        await showDevices(place);
      }, field);
    } }, h("label", { for: id }, t("What to call it")), h("div", { class: "with-button" }, field, keep), problem,
    button(t("Leave it"), () => { show(); call.focus(); }, { class: "quiet" })));
    field.focus();
    field.select();
  }
  function remove() {
    const yes = button(device.this ? t("Remove this very browser") : t("Yes, remove it"), async () => {
      yes.disabled = true;
      try {
        const done = await command(`/devices/${encodeURIComponent(device.id)}/revoke`, "revoke", device.id);
        toast(done?.words ?? t("Removed."));
        await showDevices(place);
      } catch (error) {
        toast(error.message);
        show();
      }
    }, { class: "secondary danger" });
    fill(foot, yes, button(t("Keep it"), show, { class: "quiet" }));
    yes.focus();
  }
  show();
  return h("li", { class: "row tall", "data-revoked": String(device.revoked) },
    h("p", { class: "row-head" }, h("b", { dir: "auto" }, device.name), device.this && h("span", { class: "tag" }, t("this one"))),
    h("p", { class: "small" }, [level, paired, seen].filter(Boolean).join(" · ")), foot);
}

async function ask(add, place) {
  add.disabled = true;
  try {
    const { link } = await command("/devices/link", "link", "devices");
    const field = h("input", { type: "text", readonly: true, value: link, "aria-label": t("Pairing link"), onfocus: () => field.select() });
    fill(place, h("p", {}, t("Open this on the other device. It works once, for ten minutes. Whoever opens it can speak for you.")),
      /^(127\.|localhost$|\[::1\]$)/.test(new URL(link).hostname) && h("p", { class: "small" },
        t("This address leads to this computer only. For a phone, use the button below.")),
      h("div", { class: "with-button" }, field, button(t("Copy"), async () => {
        field.select();
        await navigator.clipboard?.writeText(link).catch(() => undefined);
        toast(t("The link is copied."));
      }, { class: "secondary" })));
  } catch (error) {
    fill(place, h("p", { class: "problem" }, error.message));
  } finally {
    add.disabled = false;
  }
}
