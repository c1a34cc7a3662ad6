/* Code as one can read it: lightly coloured, with a button that copies exactly what is shown. */

import { button, h, toast, visible } from "./dom.js";
import { t } from "./words.js";

const MOST = 30_000; // characters that are coloured; what is longer is read without colour
const WORDS = "abstract and as assert async await bool break case catch char class const continue def default del " +
  "do double elif else end enum except export extends extern False false final finally float fn for from func " +
  "function global go goto if impl implements import in int interface is lambda let long match mod mut namespace new " +
  "nil None nonlocal not null or package pass private protected pub public raise return self short static struct " +
  "super switch then this throw trait True true try type typedef typeof undefined union use using var virtual void " +
  "where while with yield fi done esac echo local SELECT FROM WHERE INSERT INTO UPDATE DELETE CREATE TABLE JOIN ON AND OR NOT NULL ORDER BY GROUP";
const KEYWORDS = new Set(WORDS.split(" "));
const HASHES = /^(?:py|python|sh|bash|zsh|shell|console|ruby|rb|yaml|yml|toml|ini|make|makefile|dockerfile|perl|r|conf)$/i;
const DASHES = /^(?:sql|lua|haskell|hs)$/i;
const BARE = /^(?:text|txt|plain|log|output|diff|patch|md|markdown)?$/i;

/** What begins a piece, the first that fits; each is linear, for code is anybody's. */
function grammar(lang) {
  const line = HASHES.test(lang) ? "#[^\\n]*" : DASHES.test(lang) ? "--[^\\n]*" : "//[^\\n]*";
  const block = HASHES.test(lang) ? '"""[^]*?"""|\'\'\'[^]*?\'\'\'' : "/\\*[^]*?\\*/";
  return new RegExp(
    `(?<comment>${line}|${block})|(?<string>"(?:[^"\\\\\\n]|\\\\.)*"|'(?:[^'\\\\\\n]|\\\\.)*'|\`[^\`]*\`)` +
    "|(?<number>\\b\\d[\\w.]*)|(?<word>[A-Za-z_]\\w*)", "g");
}

/** The pieces of code: `[{kind, text}]`, kind empty for what has no colour. */
export function pieces(text, lang) {
  if (BARE.test(lang) || text.length > MOST) return [{ kind: "", text }];
  const found = [];
  let at = 0;
  for (const match of text.matchAll(grammar(lang))) {
    const [kind] = Object.entries(match.groups).find(([, value]) => value !== undefined);
    if (kind === "word" && !KEYWORDS.has(match[0])) continue;
    if (match.index > at) found.push({ kind: "", text: text.slice(at, match.index) });
    found.push({ kind, text: match[0] });
    at = match.index + match[0].length;
  }
  found.push({ kind: "", text: text.slice(at) });
  return found;
}

export function codeBlock(text, lang) {
  const shown = visible(text); // characters that nobody sees are not copied unseen either
  const code = h("code", {}, pieces(shown, lang).map(({ kind, text: piece }) =>
    kind ? h("span", { class: `code-${kind}` }, piece) : piece));
  const body = h("pre", { class: "code", tabindex: "0" }, code);
  return h("div", { class: "code-block" },
    h("div", { class: "code-head" }, h("span", { dir: "ltr" }, lang || "text"),
      button(t("Copy"), () => copy(shown, code), { class: "quiet small-button", "data-testid": "copy", "aria-label": t("Copy this code") })),
    body);
}

/** Copy, or select where the browser does not let a page copy (plain HTTP from another machine). */
export async function copy(text, node) {
  try {
    await navigator.clipboard.writeText(text);
    toast(t("Copied."));
  } catch {
    getSelection().selectAllChildren(node);
    toast(t("Selected; copy it with your keyboard or a long touch."));
  }
}
