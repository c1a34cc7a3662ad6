/* The part of a long conversation that is in the page: what is read, and a little before and after. */

const ROWS = 120; // at most; fewer where they are long, so that the page stays below its nodes
const NODES = 1_500;

let last = null; // the key of the newest row that is shown; none while the end is
let room = ROWS;

/** Show the end from now on, or the part around a row. */
export function showAround(key = null) {
  last = key && { key, middle: true };
  room = ROWS;
}

export const atEnd = () => !last;

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
  room = Math.floor(room * 0.7);
  return true;
}

/** End at this row from now on; gives by how many rows the part moves at a time. */
export function endAt(key) {
  if (key) last = { key };
  return Math.max(4, Math.floor(room / 3));
}

/** Draw, and leave what is in view where it is: of a day, which stands once, its place is another one then. */
export function steady(scroll, log, draw, beneath = null) {
  const edge = scroll.getBoundingClientRect().top;
  const top = (node) => node.getBoundingClientRect().top;
  const seen = [...log.children, ...(beneath?.children ?? [])]
    .filter((node) => !node.matches(".day") && node.getBoundingClientRect().bottom > edge)
    .map((node) => ({ node, before: top(node) }));
  draw();
  const still = seen.find(({ node }) => node.isConnected);
  if (still) scroll.scrollTop += top(still.node) - still.before;
}
