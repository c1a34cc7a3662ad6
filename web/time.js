/* Times in the reader's own words. */

import { now } from "./keys.js";
import { locale, t } from "./words.js";

const clock = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });
const date = new Intl.DateTimeFormat(locale, { weekday: "long", day: "numeric", month: "long" });
const full = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "medium" });

export const atTime = (iso) => clock.format(new Date(iso));
export const inFull = (iso) => full.format(new Date(iso));

const days = new Map();
let today = "";
let second = 0;

/** In words, kept for ten minutes of each moment: a long conversation asks for thousands. */
export function dayOf(iso) {
  const at = Math.floor(now() / 1000);
  if (second !== at) {
    const there = new Date(at * 1000).toDateString();
    if (today !== there) days.clear();
    today = there;
    second = at;
  }
  const key = iso.slice(0, 15);
  if (!days.has(key)) days.set(key, dayWords(iso));
  return days.get(key);
}

/** The same within a sentence: `today`, `on Friday 27 November`. */
export function onDay(iso) {
  const words = dayOf(iso);
  return [t("Today"), t("Yesterday")].includes(words) ? words.toLocaleLowerCase() : t("on {day}", { day: words });
}

function dayWords(iso) {
  const day = new Date(iso);
  const there = new Date(now());
  const yesterday = new Date(there);
  yesterday.setDate(there.getDate() - 1);
  if (day.toDateString() === there.toDateString()) return t("Today");
  if (day.toDateString() === yesterday.toDateString()) return t("Yesterday");
  return date.format(day);
}

/** `4:07`, of the milliseconds that are left; never below zero. */
export function left(milliseconds) {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  const minutes = Math.floor(seconds / 60);
  if (minutes >= 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${minutes}:${String(seconds % 60).padStart(2, "0")}`;
}

/** `, 8 s`, of seconds that went by. */
export function took(seconds) {
  const whole = Math.round(seconds);
  if (whole >= 60) return `, ${Math.floor(whole / 60)} min ${whole % 60} s`;
  return seconds < 1 ? t(", under 1 s") : `, ${whole} s`;
}

export function greeting(hour = new Date(now()).getHours()) {
  if (hour < 5 || hour >= 22) return t("Good night");
  if (hour < 12) return t("Good morning");
  return hour < 18 ? t("Good afternoon") : t("Good evening");
}

const ticking = new Set();
let timer = null;

/**
 * Call `update(msLeft)` every second until the moment has passed or the node has left the page.
 * One timer for all of them.
 */
export function countdown(node, until, update) {
  const entry = { node, until: new Date(until).getTime(), update, seen: false };
  update(entry.until - now());
  ticking.add(entry);
  timer ??= setInterval(tick, 1000);
}

/** Call `update(seconds)` every second until the node has left the page. */
export function stopwatch(node, update) {
  const began = now();
  countdown(node, began + 86_400_000, () => update(Math.floor((now() - began) / 1000)));
}

function tick() {
  for (const entry of ticking) {
    entry.seen ||= entry.node.isConnected;
    const remaining = entry.until - now();
    if (entry.seen && !entry.node.isConnected) ticking.delete(entry);
    else entry.update(remaining);
    if (remaining <= 0) ticking.delete(entry);
  }
  if (!ticking.size) {
    clearInterval(timer);
    timer = null;
  }
}
