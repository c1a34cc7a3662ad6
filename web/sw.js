/* Keeps the page's own files for when Silas is not running. Never anything that was said, asked or
   done: only what is in this list, and the server's own copy first whenever there is one. */

const CACHE = "silas-shell-1";
const SHELL = [
  "/", "/static/offline.html", "/static/style.css", "/static/cards.css", "/static/theme.js", "/static/app.js",
  "/static/activity.js", "/static/api.js", "/static/canonical.js", "/static/card.js", "/static/closed.js",
  "/static/devices.js", "/static/diff.js", "/static/dom.js", "/static/extras.js", "/static/extras_rare.js",
  "/static/gestures.js", "/static/keys.js", "/static/kinds.js", "/static/lock.js",
  "/static/more.js", "/static/phone.js", "/static/result.js", "/static/review.js", "/static/running.js",
  "/static/setup.js", "/static/socket.js", "/static/state.js", "/static/stop.js",
  "/static/speech.js", "/static/stream.js", "/static/text.js", "/static/time.js", "/static/words.js", "/static/offline.js", "/static/de.json", "/static/work.js", "/static/icon.svg",
  "/static/asking.js", "/static/result_rare.js", "/static/live.js", "/static/project.js", "/static/batches.js", "/static/history.js", "/static/attach.js", "/static/said.js", "/static/conversations.js", "/static/talks.js", "/static/hands.js", "/static/memory.js", "/static/reminders.js", "/static/ahead.js", "/static/secrets.js", "/static/answering.js", "/static/settings.js", "/static/showing.js", "/static/witness.js", "/static/connections.js",
  "/static/markdown.js", "/static/code.js", "/static/text.css", "/static/markdown_worker.js", "/static/vendor/marked.js",
];
const KEPT = new Set(SHELL);
const worker = /** @type {any} */ (self); // what a page has no types for

worker.addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(SHELL)).then(() => worker.skipWaiting()));
});

worker.addEventListener("activate", (event) => {
  event.waitUntil(caches.keys()
    .then((names) => Promise.all(names.filter((name) => name !== CACHE).map((name) => caches.delete(name))))
    .then(() => worker.clients.claim()));
});

worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== location.origin) return;
  if (request.mode === "navigate") event.respondWith(page(request, url));
  else if (KEPT.has(url.pathname) && !url.search) event.respondWith(file(request, url.pathname));
});

async function page(request, url) {
  try {
    const response = await fetch(request);
    if (response.ok && url.pathname === "/" && !response.redirected) await keep("/", response);
    return response;
  } catch {
    const cache = await caches.open(CACHE);
    return (url.pathname === "/" && await cache.match("/")) || cache.match("/static/offline.html");
  }
}

async function file(request, path) {
  try {
    const response = await fetch(request);
    if (response.ok) await keep(path, response);
    return response;
  } catch {
    return (await (await caches.open(CACHE)).match(path)) ?? Response.error();
  }
}

async function keep(path, response) {
  const copy = response.clone();
  await (await caches.open(CACHE)).put(path, copy);
}
