/* Before the first paint: the colours that were chosen here, so that nothing flashes. */
try {
  const theme = localStorage.getItem("silas.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch { /* no storage: as the device has it */ }
