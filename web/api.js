/* HTTP to this page's own server. Its token rides in a header, never in a URL. */

import { readJson } from "./canonical.js";
import { noteServerTime, proveCommand } from "./keys.js";
import { language, t } from "./words.js";

const TOKEN = "silas.page";

export const pageToken = () => localStorage.getItem(TOKEN) ?? "";
export const keepToken = (token) => localStorage.setItem(TOKEN, token);

/** What went wrong, in the server's own sentence. */
export class Problem extends Error {
  constructor(status, code, message, field = "") {
    super(message);
    this.status = status;
    this.code = code;
    this.field = field; // by the name that the server has for it
  }
}

export const getJson = (path) => call("GET", path);
export const postJson = (path, body = {}) => call("POST", path, body);

export async function getBlob(path, signal = undefined) {
  const response = await fetch(path, { signal, headers: { "X-Silas-Page": pageToken() }, cache: "no-store", credentials: "same-origin" });
  if (response.ok) return response.blob();
  const answer = await response.json();
  throw new Problem(response.status, answer.code, answer.message);
}

/** A command of the owner's, signed on this device. */
export async function command(path, name, subject, body = {}) {
  const proof = await proveCommand(name, subject);
  if (!proof) {
    throw new Problem(0, "E_NO_KEY", t("This browser has no key of its own, so it cannot do this. ") +
      t("Use a device that has one, or the command line."));
  }
  return postJson(path, { ...body, proof });
}

async function call(method, path, body) {
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: {
        "X-Silas-Page": pageToken(), "Accept-Language": language,
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store",
      credentials: "same-origin",
    });
  } catch {
    throw new Problem(0, "E_OFFLINE", t("Silas cannot be reached just now. Nothing was changed."));
  }
  noteServerTime(response.headers.get("Date"));
  const text = await response.text();
  let data = null;
  try {
    data = text ? readJson(text) : null;
  } catch {
    data = null;
  }
  if (response.ok) return data;
  const words = data?.message ?? t("The server answered with {status}.", { status: response.status });
  throw new Problem(response.status, data?.code ?? "", words, data?.field);
}
