/* Before the first paint: the colours that were chosen here, so that nothing flashes. */
try {
  const theme = localStorage.getItem("silas.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch { /* no storage: as the device has it */ }
/* What the surface that was asked for needs besides: asked for at once, so that it comes with the rest. */
for (const name of {
  activity: ["activity", "diff"],
  more: ["asking", "more", "activity", "devices", "phone", "diff", "setup", "speech", "work", "live", "project"],
}[location.hash.split("/")[1]] ?? []) {
  const link = document.createElement("link");
  link.rel = "modulepreload";
  link.href = `/static/${name}.js`;
  document.head.append(link);
}
