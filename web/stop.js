/* The emergency stop: one tap and a confirmation, from everywhere; and the way back. */

import { command, postJson } from "./api.js";
import { button, fill, h, icon, toast } from "./dom.js";
import { emit, on, state } from "./state.js";
import { t } from "./words.js";

export function mountStop(place, banner) {
  const dialog = h("dialog", { class: "stop-dialog", "aria-labelledby": "stop-title" });
  const problem = h("p", { class: "field-problem", role: "alert" });
  const now = button(t("Stop everything now"), stop, { class: "stop-now", "data-testid": "stop-now" });
  dialog.append(
    h("div", { class: "stop-mark" }, icon("stop")),
    h("h2", { id: "stop-title" }, t("Stop everything?")),
    h("p", {}, t("Whatever runs is killed at once, every approval given so far is void, and nothing starts again until you say so.")),
    problem, now, button(t("Keep going"), () => dialog.close(), { class: "secondary" }));
  dialog.onclick = (event) => { if (event.target === dialog) dialog.close(); };
  document.body.append(dialog);
  const open = button("", () => {
    problem.textContent = "";
    dialog.showModal();
    now.focus();
  }, { class: "stop-button", "data-testid": "stop" });
  open.append(icon("stop"), t("Stop"));
  place.append(open);
  const draw = () => drawBanner(banner, open);
  on("stopped all", draw);
  draw();

  async function stop() {
    now.disabled = true;
    try {
      await postJson("/stop");
      state.stopped ||= t("Silas is stopped.");
      emit("stopped");
      dialog.close();
    } catch (error) {
      problem.textContent = t("{message} In a terminal: silas stop --now", { message: error.message });
    } finally {
      now.disabled = false;
    }
  }
}

function drawBanner(banner, open) {
  if ((banner.dataset.words ?? "") === state.stopped) return;
  banner.dataset.words = state.stopped;
  banner.hidden = !state.stopped;
  open.hidden = Boolean(state.stopped);
  if (!state.stopped) return;
  const resume = button(t("Resume"), async () => {
    resume.disabled = true;
    try {
      await command("/resume", "resume", "silas");
      state.stopped = "";
      emit("stopped");
      toast(t("Silas goes on."));
    } catch (error) {
      toast(error.message);
      resume.disabled = false;
    }
  }, { class: "resume", "data-testid": "resume" });
  // the zone and where the button is are left out
  const since = state.stopped.split(";")[0].replace(/ \([^()]*\)$/, "");
  fill(banner, icon("stop"), h("p", {}, since), resume);
}
