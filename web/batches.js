/* Files that were moved in batches, and the way back for all of one or for one file. */

import { command, getJson } from "./api.js";
import { problemPlace, trying, twice } from "./asking.js";
import { canonicalJson } from "./canonical.js";
import { button, fill, h, icon, toast } from "./dom.js";
import { atTime, countdown, dayOf, left } from "./time.js";
import { locale, t } from "./words.js";

const STATES = {
  planned: t("planned"), moved: t("moved"), left: t("left where it was"), undoing: t("going back"), undone: t("back where it was"),
};

export async function showBatches(place) {
  const rows = await getJson("/batches");
  if (!rows.length) {
    fill(place, h("div", { class: "empty" }, h("p", { class: "empty-title" }, t("Nothing was moved yet.")),
      h("p", {}, t("Say \u201ctidy my Downloads\u201d in a conversation: you approve what is moved, and it can go back from here."))));
    return rows;
  }
  const again = () => showBatches(place);
  const open = rows.filter((row) => row.undo_until && movedOf(row).length);
  fill(place, open.length > 1 && all(open, again), rows.map((row) => batch(row, again)));
  return rows;
}

const movedOf = (row) => row.files.filter((one) => one.state === "moved");

/** Every batch on the page that can go back, in one act: the newest first, as they were moved last. */
function all(open, again) {
  const files = open.reduce((sum, row) => sum + movedOf(row).length, 0);
  const label = t("Put all {files} files of {batches} batches back", { files: files.toLocaleString(locale), batches: open.length });
  const act = async () => {
    let problem = "";
    try {
      for (const row of open) await undo(row, []);
    } catch (error) {
      problem = error.message;
    }
    const ids = new Set(open.map((row) => row.id));
    const stayed = (await again()).filter((row) => ids.has(row.id)).reduce((sum, row) => sum + movedOf(row).length, 0);
    return { words: problem || (stayed ? t("{stayed} files stay; beside each stands why.", { stayed: stayed.toLocaleString(locale) }) : t("All {files} files are back where they were.", { files: files.toLocaleString(locale) })) };
  };
  const made = twice({ label, of: "", yes: t("Yes, put them back"), no: t("Leave them"), done: () => {}, act });
  made.first.setAttribute("data-testid", "undo-all-batches");
  return h("section", { class: "part" }, h("div", { class: "controls" }, made.foot), made.problem);
}

const undo = (row, numbers) =>
  command(`/batches/${encodeURIComponent(row.id)}/undo`, "undo_batch", canonicalJson({ batch: row.id, numbers }), { numbers });

function batch(row, again) {
  const moved = movedOf(row);
  const all = row.undo_until && moved.length
    ? twice({ label: moved.length === 1 ? t("Put the file back") : t("Put all {moved} back", { moved: moved.length.toLocaleString(locale) }), of: row.folder, yes: t("Yes, put them back"), no: t("Leave them"), done: again, act: () => undo(row, []) })
    : null;
  const time = h("span", { class: "small undo-time" });
  if (all) countdown(time, row.undo_until, (ms) => { time.textContent = ms > 0 ? t("{left} to go", { left: left(ms) }) : t("Its time is over."); });
  all?.first.setAttribute("data-testid", "undo-batch");
  return h("section", { class: "part", "data-testid": "batch" },
    h("h2", { class: "label-title", dir: "auto" }, row.folder),
    h("p", { class: "small" }, `${dayOf(row.at)}, ${atTime(row.at)}`),
    all && h("div", { class: "controls" }, all.foot, time), all?.problem,
    h("ul", { class: "rows" }, row.files.map((one) => file(row, one, again))));
}

function file(row, one, again) {
  const problem = problemPlace();
  const back = button([icon("undo"), t("Undo")], () => trying([back], problem, async () => {
    toast((await undo(row, [one.number])).words);
    await again();
  }), { class: "secondary small-button", "aria-label": t("Undo: {name}", { name: one.name }), "data-testid": "undo-file" });
  return h("li", { class: "row tall", "data-testid": "moved-file" },
    h("p", { class: "row-head" }, h("b", { dir: "auto" }, one.name), row.undo_until && one.state === "moved" && back),
    h("p", { class: "small", dir: "auto" }, one.state === "undone" ? t("back where it was") : `${STATES[one.state] ?? one.state}: ${one.goal}`, one.why && ` (${one.why})`), problem);
}
