/* A patch, drawn: one block a file, what came in and what went out told by sign and colour. */

import { h } from "./dom.js";
import { t } from "./words.js";

const MOST_LINES = 1500; // more would make a phone slow; the rest is counted, not hidden
const HEAD = /^(index |new file|deleted file|old mode|new mode|similarity|dissimilarity|rename |copy |Binary )/;
const TOLD = /^# (.+?): (.+) -> (.+)$/;
const FACTS = /^(file|dir|link)(?: of (\d+) bytes)?(?:, mode ([0-7]{4}))?$/;
const TASK = /^# Task (\S+)(?: in (.+))?$/; // of a project: whose changes follow
const INDEX = /^index ([0-9a-f]{40})\.\.([0-9a-f]{40})(?: \d+)?$/;
const NOTHING = "0".repeat(40); // git's name of the content of a file that is not there
const PLACE = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;

/**
 * Split a unified diff into files: [{name, of, folder, added, removed, lines: [{kind, text}]}].
 * Within a hunk its own counts decide, so that no changed line can pass for the head of a file.
 */
export function readPatch(patch) {
  const files = [];
  /** @type {any} */
  let file = null;
  let old = 0;
  let fresh = 0;
  let of = "";
  let folder = "";
  const start = (name) => {
    file = { name, of, folder, added: 0, removed: 0, lines: [], headed: false };
    files.push(file);
  };
  for (const line of patch.split("\n")) {
    if (old > 0 || fresh > 0) {
      const kind = { "+": "in", "-": "out", "\\": "note" }[line[0]] ?? "same";
      if (kind === "in" || kind === "same") fresh -= 1;
      if (kind === "out" || kind === "same") old -= 1;
      file.added += kind === "in" ? 1 : 0;
      file.removed += kind === "out" ? 1 : 0;
      file.lines.push({ kind, text: line });
      continue;
    }
    const starts = /^diff --git "?a\/(.*) "?b\/(.*)$/.exec(line);
    const place = PLACE.exec(line);
    if (starts && file?.told) {
      if (!isQuoted(line)) [, , file.name] = starts; // else Silas's own words say it better
      file.told = false;
    } else if (starts) start(starts[2]);
    else if (TASK.test(line) && !TOLD.test(line)) { // no file of such a name is one
      of = taskOf(line);
      folder = TASK.exec(line)?.[2] ?? of;
      file = null;
    }
    else if (line.startsWith("# ")) { // Silas's own words, before the patch of each file
      const change = TOLD.exec(line);
      if (change || !file) start(change?.[1] ?? "");
      file.told ||= change !== null;
      file.lines.push({ kind: "note", text: change ? changeWords(change) : line.slice(2) });
    } else if (line.startsWith("--- ")) {
      if (!file || file.headed) start(pathOf(line));
      file.headed = true;
    } else if (line.startsWith("+++ ")) {
      if (!file) start(pathOf(line));
      if (pathOf(line) !== "/dev/null" && !(file.name && isQuoted(line))) file.name = pathOf(line);
    } else if (place) {
      if (!file) start("");
      old = Number(place[1] ?? 1);
      fresh = Number(place[2] ?? 1);
      file.lines.push({ kind: "place", text: line });
    } else if (line) {
      if (!file) start("");
      const index = INDEX.exec(line);
      if (index) [, file.was, file.is] = index;
      else file.lines.push({ kind: HEAD.test(line) ? "note" : "same", text: line });
    }
  }
  return files;
}

/** The files, those that were only moved as one each: where it lay, and where it lies. */
export function withMoves(files) {
  const gone = files.filter(({ was, is }) => was && was !== NOTHING && is === NOTHING);
  const came = new Set(files.filter(({ was, is }) => is && is !== NOTHING && was === NOTHING));
  const moves = new Map();
  for (const one of gone) {
    const same = [...came].filter(({ is, folder }) => is === one.was && folder === one.folder);
    const alike = same.filter(({ name }) => lastOf(name) === lastOf(one.name));
    const alone = same.length === 1 && gone.filter(({ was, folder }) => was === one.was && folder === one.folder).length === 1;
    const to = alike.length === 1 ? alike[0] : alone ? same[0] : null; // else nobody can say which became which
    if (!to) continue;
    came.delete(to);
    moves.set(one, to);
  }
  const arrived = new Set(moves.values());
  return files.filter((file) => !arrived.has(file)).map((file) => {
    const to = moves.get(file);
    const text = t("moved, with the same content");
    return to ? { ...file, name: `${file.name} → ${to.name}`, added: 0, removed: 0, lines: [{ kind: "note", text }] } : file;
  });
}

function lastOf(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}

function taskOf(line) {
  const [, task, place] = TASK.exec(line) ?? [];
  return place ? t("Task {task} in {place}", { task, place }) : t("Task {task}", { task });
}

/** Whether git wrote the bytes of a name in its place, as it does where not all of it is ASCII. */
const isQuoted = (line) => line.endsWith('"');

/**
 * What a file was and is, as the owner says it; as it stands where it is told in other words.
 *
 * @param {string[]} match what `TOLD` found
 */
function changeWords(match) {
  const [whole = "", name, ...sides] = match;
  const [was, is] = sides.map(sideWords);
  return was && is ? `${name}: ${was} -> ${is}` : whole.slice(2);
}

function sideWords(side) {
  if (side === "nothing") return t("nothing");
  const [, kind, size, mode] = FACTS.exec(side) ?? [];
  if (kind === "file" && size && mode) return t("file of {size} bytes, mode {mode}", { size, mode });
  if (kind === "file" && mode) return t("file, mode {mode}", { mode });
  if (kind === "dir" && mode) return t("dir, mode {mode}", { mode });
  return kind === "link" ? t("link") : "";
}

function pathOf(line) {
  return line.slice(4).split("\t")[0].replace(/^[ab]\//, "");
}

/** Lines that take the place of as many others, each with the part that is not the same: `mark`. */
function withMarks(lines) {
  const marked = [...lines];
  for (let at = 0; at < lines.length; at += 1) {
    if (lines[at].kind !== "out") continue;
    const out = run(lines, at, "out");
    const fresh = run(lines, at + out, "in");
    if (out === fresh) {
      for (let n = at; n < at + out; n += 1) {
        const [before, after] = changed(lines[n].text, lines[n + out].text);
        marked[n] = { ...lines[n], mark: before };
        marked[n + out] = { ...lines[n + out], mark: after };
      }
    }
    at += out + fresh - 1;
  }
  return marked;
}

function run(lines, from, kind) {
  let many = 0;
  while (lines[from + many]?.kind === kind) many += 1;
  return many;
}

const WORD = /[\p{L}\p{N}_]+|\s+|[^]/gu;

/** Where two lines differ, in whole words, as [from, to] of each; null where little is the same. */
function changed(before, after) {
  const [a, b] = [before.slice(1).match(WORD) ?? [], after.slice(1).match(WORD) ?? []];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const size = (words) => words.join("").length;
  const head = 1 + size(a.slice(0, start));
  const tail = size(a.slice(a.length - end));
  if (head - 1 + tail < Math.max(before.length, after.length) * 0.3) return [null, null];
  return [before, after].map((line) => line.length - tail > head ? [head, line.length - tail] : null);
}

export function diffView(patch) {
  const files = withMoves(readPatch(patch));
  let room = MOST_LINES;
  const blocks = files.map((file, at) => {
    const shown = file.lines.slice(0, Math.max(0, room));
    room -= file.lines.length;
    const label = file.of ? t("Changes in {name}, {task}", { name: file.name, task: file.of }) : t("Changes in {name}", { name: file.name });
    return h("section", { class: "diff-file", "aria-label": label },
      file.of && file.of !== files[at - 1]?.of ? h("p", { class: "small", dir: "auto" }, file.of) : null,
      h("p", { class: "diff-head" }, h("span", { class: "diff-name" }, file.name || t("Changes")),
        h("span", { class: "diff-count" }, `+${file.added} −${file.removed}`)),
      h("pre", { class: "diff", tabindex: "0" }, withMarks(shown).map(({ kind, text, mark }) =>
        h("span", { class: `diff-${kind}` }, mark
          ? [text.slice(0, mark[0]), h("mark", {}, text.slice(...mark)), `${text.slice(mark[1])}\n`] : `${text}\n`))));
  });
  if (room < 0) blocks.push(h("p", { class: "small" }, t("{room} more lines are not drawn here.", { room: -room })));
  const added = files.reduce((sum, file) => sum + file.added, 0);
  const removed = files.reduce((sum, file) => sum + file.removed, 0);
  // several tasks of a project may change one file
  const many = new Set(files.map((file) => `${file.folder}\n${file.name}`)).size;
  const count = many === 1 ? t("1 file") : t("{files} files", { files: many });
  return { node: h("div", { class: "diffs" }, blocks), words: `${count}, +${added} −${removed}` };
}
