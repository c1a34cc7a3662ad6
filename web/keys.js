/* This device's key: Ed25519, made by the browser, not extractable, kept in IndexedDB. It signs
   what the owner says, answers and commands; nothing else on this page can speak as the owner. */

import { canonicalBytes, hex, isoFormat } from "./canonical.js";

const utf8 = new TextEncoder();
let skew = 0; // milliseconds that the server's clock is ahead of this device's

/** What time it is at the server, in milliseconds, as far as this device has been told. */
export const now = () => Date.now() + skew;

/** Follow the server's clock where this device's is off: a signature is fresh for five minutes. */
export function noteServerTime(told) {
  const there = Date.parse(told ?? "");
  if (Number.isNaN(there)) return;
  const off = there - Date.now();
  skew = Math.abs(off) > 60_000 ? off : 0;
}

/** A new key pair, not kept yet; null where this browser cannot make one. */
export async function makeKey() {
  try {
    return await crypto.subtle.generateKey({ name: "Ed25519" }, false, ["sign", "verify"]);
  } catch {
    return null;
  }
}

export const keepKey = (pair) => put("device", pair);
export const deviceKey = () => get("device");
export const forgetKey = () => put("device", null);

export async function publicBytes(pair) {
  return base64(await crypto.subtle.exportKey("raw", pair.publicKey));
}

/** Proof that whoever pairs holds the private half of the key he enrols. */
export async function enrolment(pair, token) {
  const data = utf8.encode(`silas/enrol/v1\n${token}`);
  return base64(await crypto.subtle.sign("Ed25519", pair.privateKey, data));
}

export const messageBytes = (text, timestamp, nonce) =>
  canonicalBytes({ text, timestamp, nonce });

export const decisionBytes = (answer, card, timestamp, nonce) =>
  within("silas/decision/v1\n", { answer, card, nonce, timestamp });

export const commandBytes = (command, subject, timestamp, nonce) =>
  within("silas/command/v1\n", { command, subject, nonce, timestamp });

export const proveMessage = (text) => prove((...fresh) => messageBytes(text, ...fresh));
export const proveDecision = (answer, card) =>
  prove((...fresh) => decisionBytes(answer, card, ...fresh));
export const proveCommand = (command, subject) =>
  prove((...fresh) => commandBytes(command, subject, ...fresh));

export function base64(buffer) {
  return btoa(String.fromCharCode(...new Uint8Array(buffer)));
}

/** A fresh proof over the bytes, or null where this device has no key. */
async function prove(bytesOf) {
  const pair = await deviceKey();
  if (!pair) return null;
  const timestamp = isoFormat(now());
  const nonce = hex(crypto.getRandomValues(new Uint8Array(32)));
  const data = bytesOf(timestamp, nonce);
  const signature = base64(await crypto.subtle.sign("Ed25519", pair.privateKey, data));
  return { timestamp, nonce, signature };
}

function within(domain, value) {
  const head = utf8.encode(domain);
  const body = canonicalBytes(value);
  const all = new Uint8Array(head.length + body.length);
  all.set(head);
  all.set(body, head.length);
  return all;
}

export const get = (name) => transact("readonly", (store) => store.get(name));
export const put = (name, value) => transact("readwrite", (store) => store.put(value, name));

function transact(mode, act) {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open("silas", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("keys");
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const database = opening.result, transaction = database.transaction("keys", mode);
      const asked = act(transaction.objectStore("keys"));
      // Only at the end of the transaction: a page that is left before it loses what it put there.
      transaction.oncomplete = () => { database.close(); resolve(asked.result ?? null); };
      transaction.onabort = () => { database.close(); reject(transaction.error ?? asked.error); };
    };
  });
}
