/* Before the first paint: the colours that were chosen here, so that nothing flashes. */
try {
  const theme = localStorage.getItem("silas.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch { /* no storage: as the device has it */ }
/* What the surface that was asked for needs besides: asked for at once, so that it comes with the rest. */
for (const name of {
  activity: ["activity", "diff"],
  more: ["more"],
}[location.hash.split("/")[1]] ?? []) {
  const link = document.createElement("link");
  link.rel = "modulepreload";
  link.href = `/static/${name}.js`;
  document.head.append(link);
}
/* A part of the page that was lost on its way, as where a phone changes its network: without it the page
   stays dead, so it is asked for anew as soon as Silas answers. */
const ANEW = 3000; // ms
let lost = 0;
function anew(wait) {
  clearTimeout(lost);
  lost = setTimeout(() => fetch("/healthz", { signal: AbortSignal.timeout(8000) }).then(() => location.reload(), () => anew(ANEW)), wait);
}
addEventListener("error", ({ target }) => {
  if (!lost && target instanceof Element && target.matches("script, [href$='/style.css'], [href$='/cards.css']")) anew(ANEW);
}, true);
addEventListener("online", () => lost && anew(0));
