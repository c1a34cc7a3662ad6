/* How Silas speaks: which preset, what was wrong with the tone, and the very words in its prompts. */

import { command, getJson, postJson } from "./api.js";
import { button, fill, h, toast } from "./dom.js";
import { facts, plain } from "./extras.js";
import { deviceKey } from "./keys.js";
import { t } from "./words.js";

/** What the server calls by a key, as words; what it added meanwhile is told by its key. */
const WORDS = {
  too_harsh: t("Too harsh"), too_soft: t("Too soft"), too_wordy: t("Too wordy"), too_brief: t("Too brief"), too_formal: t("Too formal"),
  too_casual: t("Too casual"), too_cold: t("Too cold"), too_playful: t("Too playful"), too_pushy: t("Too pushy"), too_passive: t("Too passive"),
  too_sure: t("Too sure"), too_vague: t("Too vague"),
  warmth: t("Warmth"), assertiveness: t("Assertiveness"), verbosity: t("Verbosity"), formality: t("Formality"), humor: t("Humor"),
  initiative: t("Initiative"), certainty: t("Certainty"),
  chill: t("Chill"), default: t("Default"), review: t("Reviewing"), work: t("Work"),
  code_review: t("Code review"), casual_chat: t("Casual chat"), crisis: t("Crisis"), group_chat: t("Group chat"), deep_research: t("Deep research"),
  "very low": t("very low"), low: t("low"), middling: t("middling"), high: t("high"), "very high": t("very high"),
  neutral: t("neutral"), tired: t("tired"), lively: t("lively"), "short of patience": t("short of patience"), patient: t("patient"),
  incurious: t("incurious"), curious: t("curious"), "at ease": t("at ease"), "under pressure": t("under pressure"),
};
/** What is said in words already; those that are none of the server's own stay. */
const said = (words) => WORDS[words] ?? words;
const word = (key) => WORDS[key] ?? plain(key);

export async function showSpeech(place) {
  draw(place, await getJson("/persona/state"));
}

function draw(place, persona) {
  const now = (send) => async () => {
    try {
      draw(place, await send());
    } catch (error) {
      toast(error.message);
    }
  };
  const preset = (name) => button(word(name), now(() => postJson("/persona/preset", { preset: name })),
    { class: "chip", "aria-pressed": String(name === persona.preset) });
  const wrong = (type) => button(word(type), now(async () => {
    const after = await tell(type);
    toast(t("Noted."));
    return after;
  }), { class: "chip" });
  fill(place,
    h("p", {}, t("This shapes wording and tone. What Silas may do never depends on it.")),
    h("h2", { class: "label-title" }, t("Preset")),
    h("div", { class: "chips", role: "group", "aria-label": t("Preset") }, persona.presets.map(preset)),
    h("h2", { class: "label-title" }, t("Was something wrong?")),
    h("div", { class: "chips", role: "group", "aria-label": t("Feedback") }, persona.feedback.map(wrong)),
    h("h2", { class: "label-title" }, t("Where it stands")),
    facts([[t("Mood"), persona.mood_words.split(", ").map(said).join(", ")], [t("Situation"), word(persona.context)],
      ...Object.entries(persona.levels).map(([axis, words]) => [word(axis), said(words)])]),
    h("h2", { class: "label-title" }, t("What the model is told")),
    h("p", { class: "small kept", dir: "auto", "data-testid": "directives" }, persona.directives));
}

/** Signed where this browser has a key: then it lasts. Without one it fades within hours. */
async function tell(type) {
  return await deviceKey()
    ? command("/persona/feedback", "feedback", type, { type })
    : postJson("/persona/feedback", { type });
}
