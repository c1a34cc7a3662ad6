/* What this page says, in its owner's language. English stands in the code; the catalogue of another
   language is there before anything is drawn. */

const WRITTEN = { en: "ltr", de: "ltr" }; // the languages there are, and which way each is written
const KEPT = "silas.language"; // the language that Silas spoke last

export const language = kept() ?? (navigator.language.split("-")[0] in WRITTEN ? navigator.language.split("-")[0] : "en");
/** How times and numbers are written: as the browser's own region does, where it has this language. */
export const locale = navigator.language.split("-")[0] === language ? navigator.language : language;
const words = language === "en" ? {} : await catalogue();

document.documentElement.lang = language;
document.documentElement.dir = WRITTEN[language];

/** A sentence with its values in place of `{name}`; in English where the catalogue has it not. */
export function t(english, values = {}) {
  return (words[english] ?? english).replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

/** Say everything as Silas does; the page is drawn anew where that is another language. */
export function speak(spoken) {
  if (spoken === language || !(spoken in WRITTEN)) return;
  try {
    localStorage.setItem(KEPT, spoken);
    if (kept() === spoken) location.reload();
  } catch { /* no storage: as the browser has it */ }
}

/** The page's own markup, before anybody's words are in it. */
export function translate(root) {
  if (language === "en") return;
  for (const node of root.querySelectorAll("[aria-label]")) node.setAttribute("aria-label", t(node.getAttribute("aria-label")));
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = /** @type {Text} */ (texts.currentNode);
    const own = node.data.trim();
    if (own) node.data = node.data.replace(own, t(own));
  }
}

function kept() {
  try {
    const one = localStorage.getItem(KEPT);
    return one in WRITTEN ? one : null;
  } catch {
    return null;
  }
}

async function catalogue() {
  try {
    return await (await fetch(`/static/${language}.json`)).json();
  } catch {
    return {};
  }
}
