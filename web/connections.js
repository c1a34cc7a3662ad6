/* Connections under More: servers of tools and channels, how they fare, and what is done with a server. */

import { command, getJson } from "./api.js";
import { problemPlace, styled, trying, twice } from "./asking.js";
import { canonicalJson } from "./canonical.js";
import { button, fill, h, icon } from "./dom.js";
import { always, live } from "./live.js";
import { on } from "./state.js";
import { onDay } from "./time.js";
import { t } from "./words.js";

const STANDING = {
  connected: ["healthy", t("Works")], drifted: ["degraded", t("Works, with trouble")],
  down: ["unavailable", t("Does not work now")], untrusted: ["absent", t("Not in use")],
};

/** @type {any} */
let shown = null;

// what waits for a yes elsewhere is looked at again when it was answered, and when what became of it
// is told or on record: between the two it was still under way; nobody is writing then
on("cards happened", () => {
  if (shown?.isConnected && shown.querySelector("[data-testid=asks]")) showConnections(shown);
});

/** @param {() => boolean} free */
export async function showConnections(place, free = always) {
  await styled();
  const { servers, channels, file, asks, secrets, schemes } = await getJson("/connections");
  if (!free()) return;
  const again = () => showConnections(place);
  shown = place;
  live(place, (still) => showConnections(place, still)); // what was changed elsewhere is shown here
  fill(place,
    h("h2", { class: "label-title" }, t("Servers of tools")),
    asks && h("p", { class: "sent", role: "status", "data-testid": "asks" }, icon("check"),
      h("span", {}, h("a", { href: "#/review" }, t("Your yes is asked for in Review")), ".")),
    servers.length ? h("ul", { class: "rows", "data-testid": "servers" }, servers.map((one) => serverRow(one, again, { asks, secrets, schemes })))
      : h("p", { class: "small" }, t("There is no server of tools.")),
    asks ? null : adding(secrets, schemes),
    h("h2", { class: "label-title" }, t("Where you can talk to Silas")),
    h("ul", { class: "rows", "data-testid": "channels" }, channels.map((one) => h("li", { class: "row tall" },
      head(one.name, ...(one.trouble ? STANDING.down : STANDING.connected)),
      h("p", { class: "small", dir: "auto" }, one.words),
      one.trouble && h("p", { class: "small warning-text", dir: "auto" }, one.trouble)))),
    h("p", { class: "small" }, t("A channel is added in "), h("code", {}, file), t(" and counts from the next start on. Servers are written there, too, and count at once; the former file is kept beside it.")));
}

const head = (name, state, words) => h("p", { class: "row-head" }, h("b", { dir: "auto" }, name),
  h("span", { class: "health", "data-health": state }, h("span", { class: "dot", "aria-hidden": "true" }), words));

function serverRow(server, again, { asks, secrets, schemes }) {
  const to = `/connections/${encodeURIComponent(server.name)}`;
  const doing = [];
  if (server.standing === "down") doing.push(twice({ label: t("Try it now"), of: server.name, yes: t("Yes, start it"), no: t("Leave it"), done: again,
    act: () => command(`${to}/retry`, "retry_server", server.name) }));
  if (server.standing !== "untrusted") doing.push(twice({ label: t("Trust it no more"), of: server.name, yes: t("Yes, end it now"), no: t("Keep it"), done: again,
    act: () => command(`${to}/distrust`, "distrust_server", server.name) }));
  doing.push(twice({ label: t("Remove"), of: server.name, named: t("Remove {name}", { name: server.name }), yes: t("Yes, remove it"), no: t("Keep it"), done: again,
    act: () => command(`${to}/remove`, "remove_server", server.name) }));
  const problem = problemPlace();
  const look = button(t("Look at its tools"), () => trying([look], problem, async () => {
    await command(`${to}/trust`, "trust_server", server.name);
    location.hash = "#/review"; // that is where the question is
  }), { class: "secondary", "aria-label": t("Look at the tools of {name}", { name: server.name }) });
  const place = h("div", { class: "shown-place" });
  const show = () => { changing.know(secrets); fill(place, changing.form); change.hidden = true; };
  const change = button(t("Change"), () => {
    changing = { name: server.name, ...serverForm(schemes, { of: server }) };
    show();
    place.querySelector("select")?.focus();
  }, { class: "secondary", "aria-label": t("Change {name}", { name: server.name }) });
  if (changing?.name === server.name && !asks) show();
  const unknown = ["untrusted", "drifted"].includes(server.standing);
  return h("li", { class: "row tall", "data-server": server.name, "data-standing": server.standing },
    head(server.name, ...STANDING[server.standing]),
    h("p", { class: "small", dir: "auto" }, server.words),
    server.trouble && h("p", { class: "small warning-text", dir: "auto" }, server.trouble),
    h("dl", { class: "facts" },
      fact(server.remote ? t("Is at") : t("Runs"), server.runs),
      server.remote ? fact(t("Reaches"), t("what its own machine reaches; Silas cannot see that"))
        : [fact(t("Reaches"), server.reaches.join(", ") || t("no host")), fact(t("Sees"), server.sees.join(", ") || t("no file of yours")),
          fact(t("May change"), server.changes.join(", ") || t("no file of yours"))],
      server.given.map((one) => fact(server.remote ? t("Is sent the header {name}", { name: one.name }) : t("Is given the variable {name}", { name: one.name }), fromSecret(one)))),
    server.tools.length ? h("ul", { class: "plainlist small", "aria-label": t("Tools of {name}", { name: server.name }) }, server.tools.map(toolRow)) : null,
    h("div", { class: "row-actions" }, unknown && look, asks ? null : change, doing.map((one) => one.foot)), place, problem, doing.map((one) => one.problem));
}

/** Which secret it is; a missing one is marked in words, as its value can be looked at nowhere. */
const fromSecret = ({ secrets, missing }) => [t("from your secret {secret}", { secret: secrets.join(", ") }),
  missing.length ? h("span", { class: "warning-text", "data-testid": "missing-secret" }, " · ", h("a", { href: "#/more/secrets" }, t("{secret} is not stored", { secret: missing.join(", ") }))) : null];

const fact = (name, words) => h("div", {}, h("dt", {}, name), h("dd", { dir: "auto" }, words));

const toolRow = (tool) => h("li", {}, h("span", { dir: "auto" }, tool.name),
  tool.usable ? null : t(", out of use"), tool.last_used ? t(", last used {on}", { on: onDay(tool.last_used) }) : null);

const lines = (field) => field.value.split("\n").map((line) => line.trim()).filter(Boolean);

/** What is being written down; it is kept while its owner stores a secret elsewhere, and has no value of one. */
let draft = null;

/** The server that is being changed, with its form; kept as `draft` is. */
let changing = null;

/** A server is written down here; a card shows the whole of it, and nothing changes before a yes. */
function adding(secrets, schemes) {
  const place = h("div", {});
  const open = button(t("Add a server"), () => { draft = serverForm(schemes, {}); draft.know(secrets); fill(place, draft.form); place.querySelector("input")?.focus(); },
    { class: "secondary", "data-testid": "add-server" });
  draft?.know(secrets);
  fill(place, draft ? draft.form : open);
  return place;
}

/**
 * What a server is, to be written down; filled with what `of` is where that one is changed.
 *
 * @param {string[]} schemes
 * @param {{ of?: any }} which
 */
function serverForm(schemes, { of }) {
  const id = of ? `server-${of.name}` : "server", was = of?.form;
  const plain = { autocomplete: "off", spellcheck: "false", autocapitalize: "none", maxlength: "1000" };
  const name = h("input", { id: `${id}-name`, type: "text", ...plain, placeholder: "git" });
  const kind = h("select", { id: `${id}-kind`, onchange: () => choose() },
    h("option", { value: "program" }, t("A program on this computer")), h("option", { value: "address" }, t("An address")));
  const program = h("input", { id: `${id}-command`, type: "text", ...plain, placeholder: "/usr/local/bin/mcp-server-git" });
  const [args, read, write, hosts] = ["args", "read", "write", "hosts"].map((one) => {
    const field = h("textarea", { id: `${id}-${one}`, rows: "2", ...plain, maxlength: null });
    if (was) field.value = was[one].join("\n");
    return field;
  });
  const url = h("input", { id: `${id}-url`, type: "text", inputmode: "url", ...plain });
  const env = secretLines({ id: `${id}-env`, adds: "add-env", title: t("Variables from your secrets"), add: t("Add a variable"), called: t("Variable"), example: "GITHUB_TOKEN", schemes: [], there: was?.env });
  const headers = secretLines({ id: `${id}-header`, adds: "add-header", title: t("Headers from your secrets"), add: t("Add a header"), called: t("Header"), example: "Authorization", schemes, there: was?.headers });
  const kept = keptLines(was?.kept ?? [], Boolean(was?.url));
  const own = h("div", {}, labelled(t("Program"), program, t("The name of a program of the system, or its whole path.")),
    labelled(t("Arguments, one a line"), args),
    labelled(t("Paths that it may read, one a line"), read, t("It sees no other file of yours; its own program is among them.")),
    labelled(t("Paths that it may change, one a line"), write, t("What it writes there cannot be undone by Silas.")),
    labelled(t("Hosts that it may reach, one a line"), hosts), env.place);
  const far = h("div", { hidden: true }, labelled(t("Address"), url, t("What its server does with what it is told, nobody here can see.")), headers.place);
  const choose = () => { own.hidden = kind.value !== "program"; far.hidden = !own.hidden; kept.place.hidden = !kept.any || own.hidden !== Boolean(was?.url); };
  if (was) Object.assign(name, { value: of.name }), Object.assign(program, { value: was.command }), Object.assign(url, { value: was.url }), Object.assign(kind, { value: was.url ? "address" : "program" });
  choose();
  const problem = problemPlace();
  const go = h("button", { class: "secondary", "data-testid": of ? "ask-change" : "ask-server" }, t("Ask me in Review"));
  const wanted = () => {
    const here = kind.value === "program";
    return { name: name.value.trim(), command: here ? program.value.trim() : "", args: here ? args.value.split("\n").filter(Boolean) : [],
      url: here ? "" : url.value.trim(), hosts: here ? lines(hosts) : [], read: here ? lines(read) : [], write: here ? lines(write) : [],
      env: here ? env.lines() : [], headers: here ? [] : headers.lines() };
  };
  const fieldNamed = (path) => { // such as `url`, `read.0`, `env.0` and `env.0.secret`
    const [part, number, what] = path.split(".");
    const given = { env, headers }[part];
    return given ? given.field(Number(number), what ?? "name") : { name, command: own.hidden ? url : program, args, url, hosts, read, write }[part];
  };
  const form = h("form", { class: "page-body", novalidate: true, "data-testid": of ? "changed-server" : "new-server", onsubmit: (event) => {
    event.preventDefault();
    trying([go], problem, async () => {
      if (was) {
        const change = { ...wanted(), kept: kept.place.hidden ? [] : kept.names(), seen: was.seen };
        await command(`/connections/${encodeURIComponent(of.name)}/change`, "change_server", canonicalJson(change), change);
        changing = null;
      } else {
        await command("/connections", "add_server", canonicalJson(wanted()), wanted());
        draft = null;
      }
      location.hash = "#/review"; // that is where the question is
    }, fieldNamed);
  } }, of ? null : labelled(t("Name"), name), labelled(t("It is"), kind), own, far, kept.place, problem, h("div", { class: "controls" }, go,
    button(of ? t("Leave it as it is") : t("Leave it out"), () => { if (of) changing = null; else draft = null; showConnections(shown); }, { class: "quiet" })),
  h("p", { class: "small" }, of ? t("A card shows what changes, before and after. With your yes it ends, and its tools are asked about again.")
    : t("A card shows the whole of it first. A key is named here and never written: no page, message or record has its value.")));
  return { form, know: (secrets) => { env.know(secrets); headers.know(secrets); } };
}

/** Variables or headers whose text the file has: each stays as it is, or is taken out. */
function keptLines(names, far) {
  const left = new Set(names);
  const rows = names.map((one) => {
    const row = h("p", { class: "small" }, far ? t("The header {name} stays as the file has it. ", { name: one }) : t("The variable {name} stays as the file has it. ", { name: one }),
      button(t("Take it out"), () => { left.delete(one); row.remove(); }, { class: "quiet", "aria-label": t("Take out {what}", { what: one }) }));
    return row;
  });
  return { place: h("div", { class: "field" }, rows), any: names.length > 0, names: () => names.filter((one) => left.has(one)) };
}

/** Rows of a name and the secret that it holds, which is chosen among those that are stored. */
function secretLines({ id, adds, title, add, called, example, schemes, there = [] }) {
  const rows = h("div", { class: "page-body" });
  const none = h("p", { class: "small" }, t("No secret is stored yet. "), h("a", { href: "#/more/secrets" }, t("Store one under Secrets")), t("; what you wrote here stays."));
  const more = button(add, () => { rows.append(row()); rows.lastElementChild?.querySelector("input")?.focus(); }, { class: "secondary", "data-testid": adds });
  const made = [];
  let count = 0, known = [];
  const offer = (select) => {
    const chosen = select.value;
    const gone = chosen && !known.includes(chosen);
    fill(select, h("option", { value: "" }, t("Choose a secret")), known.map((one) => h("option", { value: one }, one)),
      gone ? h("option", { value: chosen }, t("{secret} (not stored)", { secret: chosen })) : null);
    select.value = chosen;
  };
  function row(was) {
    const number = ++count;
    const name = h("input", { id: `${id}-${number}`, type: "text", autocomplete: "off", spellcheck: "false", autocapitalize: "none", maxlength: "64", placeholder: example });
    const scheme = h("select", { id: `${id}-word-${number}` }, h("option", { value: "" }, t("no word")), schemes.map((one) => h("option", { value: one }, one)));
    const secret = h("select", { id: `${id}-secret-${number}` });
    if (was) { // which secret it is stays, also where it is not stored any more
      fill(secret, h("option", { value: was.secret }, was.secret));
      name.value = was.name;
      scheme.value = was.scheme;
    }
    offer(secret);
    const one = { name, scheme, secret };
    made.push(one);
    const place = h("fieldset", { class: "secret-line" }, h("legend", { class: "small" }, `${called} ${number}`), labelled(t("Its name"), name),
      schemes.length ? labelled(t("Word before the secret"), scheme) : null, labelled(t("Secret"), secret),
      button(t("Take it out"), () => { made.splice(made.indexOf(one), 1); place.remove(); more.focus(); }, { class: "quiet", "aria-label": t("Take out {what}", { what: `${called} ${number}` }) }));
    return place;
  }
  rows.append(...there.map(row));
  return {
    place: h("div", { class: "field" }, h("p", { class: "label" }, title), rows, none, more),
    know: (secrets) => { known = secrets; none.hidden = secrets.length > 0; more.hidden = !secrets.length && !made.length; made.forEach((one) => offer(one.secret)); },
    field: (number, what) => made[number]?.[what],
    lines: () => made.map((one) => ({ name: one.name.value.trim(), scheme: one.scheme.value, secret: one.secret.value })),
  };
}

const labelled = (words, field, more = "") => h("div", { class: "field" }, h("label", { for: field.id }, words), field,
  more && h("p", { class: "small" }, more));
