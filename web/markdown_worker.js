/* Reads Markdown in a thread of its own, with the parser of `vendor/`. Only its tokens are used: what
   leaves here is a tree of plain data, bounded in size and depth, without HTML and without pictures. */

import { Lexer } from "./vendor/marked.js";

const MOST_CHARACTERS = 60_000;
const DEEPEST = 12; // of quotes and lists in one another
const MOST_NODES = 6000;
const QUOTES = new RegExp(`^[ \\t]*(?:>[ \\t]*){${DEEPEST + 1}}`, "m");
const MARKERS = new RegExp(`^[ \\t]*(?:(?:[-*+>]|\\d{1,9}[.)])[ \\t]+){${DEEPEST + 1}}`, "m");
const INDENT = new RegExp(`^[ \\t]{${(DEEPEST + 1) * 4},}(?:[-*+>]|\\d{1,9}[.)])[ \\t]`, "m");
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", hellip: "…", ndash: "–", mdash: "—" };

class TooMuch extends Error {}

/** The tree of a text, or why it is shown as it was written: `{nodes}` or `{why}`. */
export function read(text) {
  if (text.length > MOST_CHARACTERS) return { why: "it is very long" };
  if (QUOTES.test(text) || MARKERS.test(text) || INDENT.test(text)) return { why: "it nests too deeply" };
  try {
    const room = { nodes: MOST_NODES };
    return { nodes: blocksOf(new Lexer({ gfm: true }).lex(text), room, 0) };
  } catch (error) {
    return { why: error instanceof TooMuch ? error.message : "it cannot be read as Markdown" };
  }
}

function count(room, depth) {
  room.nodes -= 1;
  if (room.nodes < 0) throw new TooMuch("it has very many parts");
  if (depth > DEEPEST) throw new TooMuch("it nests too deeply");
}

function blocksOf(tokens, room, depth) {
  return tokens.flatMap((token) => {
    count(room, depth);
    return BLOCKS[token.type]?.(token, room, depth) ?? { t: "p", c: inlinesOf([token], room, depth) };
  });
}

/** What becomes of a block's token; what is not named here is a paragraph. */
const BLOCKS = {
  space: () => [],
  def: () => [],
  hr: () => ({ t: "hr" }),
  html: (token) => ({ t: "p", c: [token.raw.trimEnd()] }),
  checkbox: () => [],
  code: (token) => ({ t: "code", lang: (token.lang ?? "").trim().split(/\s+/)[0].slice(0, 20), text: token.text }),
  heading: (token, room, depth) => ({ t: "h", depth: token.depth, c: inlinesOf(token.tokens, room, depth) }),
  paragraph: (token, room, depth) => ({ t: "p", c: inlinesOf(token.tokens, room, depth) }),
  text: (token, room, depth) => ({ t: "p", c: inlinesOf(token.tokens ?? [token], room, depth) }),
  blockquote: (token, room, depth) => ({ t: "quote", c: blocksOf(token.tokens, room, depth + 1) }),
  list: (token, room, depth) => ({
    t: token.ordered ? "ol" : "ul", start: token.ordered ? Number(token.start) || 1 : 0,
    c: token.items.map((item) => {
      count(room, depth);
      return { done: item.task ? Boolean(item.checked) : null, c: blocksOf(item.tokens, room, depth + 1) };
    }),
  }),
  table: (token, room, depth) => ({
    t: "table", align: token.align,
    c: [token.header, ...token.rows].map((row) => row.map((cell) => {
      count(room, depth);
      return inlinesOf(cell.tokens, room, depth);
    })),
  }),
};

function inlinesOf(tokens, room, depth) {
  return (tokens ?? []).flatMap((token) => {
    count(room, depth);
    return INLINES[token.type]?.(token, room, depth + 1) ?? [token.raw];
  });
}

const INLINES = {
  text: (token, room, depth) => token.tokens ? inlinesOf(token.tokens, room, depth) : [plain(token.text)],
  escape: (token) => [token.text],
  br: () => ["\n"],
  codespan: (token) => [{ t: "c", text: token.text }],
  strong: (token, room, depth) => [{ t: "b", c: inlinesOf(token.tokens, room, depth) }],
  em: (token, room, depth) => [{ t: "i", c: inlinesOf(token.tokens, room, depth) }],
  del: (token, room, depth) => [{ t: "s", c: inlinesOf(token.tokens, room, depth) }],
  link: (token, room, depth) => [{ t: "a", href: plain(token.href), c: inlinesOf(token.tokens, room, depth) }],
  image: (token) => [{ t: "a", href: plain(token.href), picture: true, c: [plain(token.text)] }],
};

/** The parser leaves entities to a browser that would read HTML; here they are characters. */
function plain(text) {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,6}));/gi, (whole, decimal, hex, name) => {
    if (name) return ENTITIES[name] ?? whole;
    const code = decimal ? Number(decimal) : parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

addEventListener("message", ({ data }) => postMessage({ id: data.id, ...read(data.text) }));
postMessage({ ready: true });
