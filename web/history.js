/* The part of a long conversation that is in the page: what is read, and a little before and after. */

const ROWS = 120; // at most; fewer where they are long, so that the page stays below its nodes
const NODES = 1_500;
const NEAR = 900; // pixels from an end within which the page holds more of what comes there

let last = null; // the key of the newest row that is shown; none while the end is
let room = ROWS;

/** Show the end from now on, or the part around a row. */
export function showAround(key = null) {
  last = key && { key, middle: true };
  room = ROWS;
}

export const atEnd = () => !last;

/** The rows that are shown now, of all that are there. */
export function part(rows) {
  let end = rows.length;
  if (last) {
    const found = rows.findIndex((row) => row.key === last.key);
    if (found >= 0) end = Math.min(rows.length, found + 1 + (last.middle ? room / 2 : 0));
    last = end < rows.length ? { key: rows[end - 1].key } : null;
  }
  const begin = Math.max(0, end - room);
  return { rows: rows.slice(begin, end), begin, end };
}

/** Whether what is drawn has too many nodes, so that fewer rows are to be drawn. */
export function tooMuch(log) {
  if (room <= 8 || log.getElementsByTagName("*").length <= NODES) return false;
  room = Math.floor(room / 2);
  return true;
}

/**
 * Follow the hand: more of what was before, or of what came after, while what is read stays where it
 * is. `all` gives every row, `draw` draws, `fetch` brings older ones and is asked where none are left.
 */
export function scrolled(scroll, log, all, draw, fetch) {
  const rows = all();
  const { begin, end } = part(rows);
  const step = Math.max(4, Math.floor(room / 3));
  const above = scroll.scrollTop < NEAR;
  const below = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < NEAR;
  if (above && begin > 0) last = { key: rows[Math.max(0, end - step) - 1]?.key ?? rows[0].key };
  else if (above && begin === 0) return fetch();
  else if (below && end < rows.length) last = { key: rows[Math.min(rows.length, end + step) - 1].key };
  else return undefined;
  return steady(scroll, log, draw);
}

/** Draw, and leave what is in view where it is. */
export function steady(scroll, log, draw) {
  const edge = scroll.getBoundingClientRect().top;
  const seen = [...log.children].find((node) => node.getBoundingClientRect().bottom > edge);
  const before = seen?.getBoundingClientRect().top;
  draw();
  if (seen?.isConnected) scroll.scrollTop += seen.getBoundingClientRect().top - before;
}
