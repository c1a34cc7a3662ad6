/* Connections under More: servers of tools and channels, how they fare, and what is done with a server. */

import { command, getJson } from "./api.js";
import { twice } from "./asking.js";
import { fill, h } from "./dom.js";
import { dayOf } from "./time.js";
import { t } from "./words.js";

const STANDING = {
  connected: ["healthy", t("Works")], drifted: ["degraded", t("Works, with trouble")],
  down: ["unavailable", t("Does not work now")], untrusted: ["absent", t("Not in use")],
};

export async function showConnections(place) {
  const { servers, channels, file } = await getJson("/connections");
  const again = () => showConnections(place);
  fill(place,
    h("h2", { class: "label-title" }, t("Servers of tools")),
    servers.length ? h("ul", { class: "rows", "data-testid": "servers" }, servers.map((one) => serverRow(one, again)))
      : h("p", { class: "small" }, t("There is no server of tools.")),
    h("h2", { class: "label-title" }, t("Where you can talk to Silas")),
    h("ul", { class: "rows", "data-testid": "channels" }, channels.map((one) => h("li", { class: "row tall" },
      head(one.name, ...(one.trouble ? STANDING.down : STANDING.connected)),
      h("p", { class: "small", dir: "auto" }, one.words),
      one.trouble && h("p", { class: "small warning-text", dir: "auto" }, one.trouble)))),
    h("p", { class: "small" }, t("A server or a channel is added in "), h("code", {}, file), t(" and counts from the next start on.")));
}

const head = (name, state, words) => h("p", { class: "row-head" }, h("b", { dir: "auto" }, name),
  h("span", { class: "health", "data-health": state }, h("span", { class: "dot", "aria-hidden": "true" }), words));

function serverRow(server, again) {
  const to = `/connections/${encodeURIComponent(server.name)}`;
  const doing = [];
  if (server.standing === "down") doing.push(twice({ label: t("Try it now"), of: server.name, yes: t("Yes, start it"), no: t("Leave it"), done: again,
    act: () => command(`${to}/retry`, "retry_server", server.name) }));
  if (server.standing !== "untrusted") doing.push(twice({ label: t("Trust it no more"), of: server.name, yes: t("Yes, end it now"), no: t("Keep it"), done: again,
    act: () => command(`${to}/distrust`, "distrust_server", server.name) }));
  return h("li", { class: "row tall", "data-server": server.name, "data-standing": server.standing },
    head(server.name, ...STANDING[server.standing]),
    h("p", { class: "small", dir: "auto" }, server.words),
    server.trouble && h("p", { class: "small warning-text", dir: "auto" }, server.trouble),
    h("dl", { class: "facts" },
      fact(server.remote ? t("Is at") : t("Runs"), server.runs),
      server.remote ? fact(t("Reaches"), t("what its own machine reaches; Silas cannot see that"))
        : [fact(t("Reaches"), server.reaches.join(", ") || t("no host")), fact(t("Sees"), server.sees.join(", ") || t("no file of yours")),
          fact(t("Changes"), server.changes.join(", ") || t("no file of yours"))]),
    server.tools.length ? h("ul", { class: "plainlist small", "aria-label": t("Tools of {name}", { name: server.name }) }, server.tools.map(toolRow)) : null,
    h("div", { class: "row-actions" }, doing.map((one) => one.foot)), doing.map((one) => one.problem));
}

const fact = (name, words) => h("div", {}, h("dt", {}, name), h("dd", { dir: "auto" }, words));

const toolRow = (tool) => h("li", {}, h("span", { dir: "auto" }, tool.name),
  tool.usable ? null : t(", out of use"), tool.last_used ? t(", last used {on}", { on: dayOf(tool.last_used) }) : null);
