/* Canonical JSON exactly as Silas has it in Python (sorted keys, no blanks, ASCII), digests of it,
   and timestamps as `datetime.isoformat()` writes them. What is signed here is checked there. */

/** A number whose Python spelling JavaScript would lose: a float, or an integer beyond 2^53. */
export class Exact extends Number {
  constructor(source) {
    super(source);
    this.source = source;
  }
}

/** Read JSON, keeping what `canonicalJson` needs to write it back as Python would. */
export function readJson(text) {
  return JSON.parse(text, (_key, value, context) => {
    if (typeof value !== "number" || context?.source === undefined) return value;
    const float = /[.eE]/.test(context.source);
    return float || !Number.isSafeInteger(value) ? new Exact(context.source) : value;
  });
}

/** Throws TypeError for what is not JSON, RangeError for a number that is not finite. */
export function canonicalJson(value) {
  if (value === null || value === true || value === false) return String(value);
  if (typeof value === "string") return quoted(value);
  if (value instanceof Exact || typeof value === "number") return number(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object") throw new TypeError(`${typeof value} is not JSON`);
  const keys = Object.keys(value).sort(byCodePoint);
  return `{${keys.map((key) => `${quoted(key)}:${canonicalJson(value[key])}`).join(",")}}`;
}

export function canonicalBytes(value) {
  return new TextEncoder().encode(canonicalJson(value));
}

export async function sha256Hex(bytes) {
  return hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}

export function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** `2026-11-22T07:40:59.123000+00:00`, without a fraction where it is zero. */
export function isoFormat(milliseconds) {
  const [seconds, fraction] = new Date(milliseconds).toISOString().slice(0, -1).split(".");
  return fraction === "000" ? `${seconds}+00:00` : `${seconds}.${fraction}000+00:00`;
}

/** The digest of a card as received: of all but the digest and its two times. */
export async function cardDigest(event) {
  const { digest: _digest, asked_at: _asked, expires_at: _expires, ...shown } = event;
  return sha256Hex(canonicalBytes(shown));
}

const SHORT = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f", "\b": "\\b" };

function quoted(text) {
  const escaped = text.replace(/["\\]|[^ -~]/g, (unit) =>
    SHORT[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return `"${escaped}"`;
}

/** Python sorts text by code points, JavaScript by UTF-16 units: they differ beyond U+FFFF. */
function byCodePoint(one, other) {
  const a = Array.from(one, (c) => c.codePointAt(0));
  const b = Array.from(other, (c) => c.codePointAt(0));
  for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
    if (a[at] !== b[at]) return a[at] - b[at];
  }
  return a.length - b.length;
}

function number(value) {
  if (value instanceof Exact) {
    return /[.eE]/.test(value.source) ? float(Number(value)) : BigInt(value.source).toString();
  }
  if (Number.isSafeInteger(value)) return String(value);
  return float(value);
}

/** Python's `repr` of a float: the same shortest digits as JavaScript's, written another way. */
function float(value) {
  if (!Number.isFinite(value)) throw new RangeError("a number in JSON is finite");
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const [mantissa, power] = Math.abs(value).toExponential().split("e");
  const digits = mantissa.replace(".", "");
  const exponent = Number(power);
  const sign = value < 0 ? "-" : "";
  if (exponent < -4 || exponent >= 16) {
    const rest = digits.length > 1 ? `.${digits.slice(1)}` : "";
    const size = String(Math.abs(exponent)).padStart(2, "0");
    return `${sign}${digits[0]}${rest}e${exponent < 0 ? "-" : "+"}${size}`;
  }
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  return `${sign}${whole}.${digits.slice(exponent + 1) || "0"}`;
}
