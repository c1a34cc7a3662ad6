/* The device's own lock (fingerprint, face, PIN), asked through WebAuthn for what cannot be undone.
   It shows that a person is there; what authorises is the signature. Where there is none we say so. */

import { get, put } from "./keys.js";

const CREDENTIAL = "lock";
const A_MINUTE = 60_000;

/** `passed`, `refused`, or `unavailable` where this device or this address offers none. */
export async function localCheck() {
  if (!(await offered())) return "unavailable";
  const known = await get(CREDENTIAL).catch(() => null);
  try {
    if (known) await askFor(known);
    else await put(CREDENTIAL, await enrol());
    return "passed";
  } catch (error) {
    return error?.name === "NotAllowedError" ? "refused" : "unavailable";
  }
}

/** WebAuthn knows names only: at an address such as 127.0.0.1 no browser offers it. */
export async function offered() {
  if (/^[\d.]+$|:/.test(location.hostname) || !window.PublicKeyCredential) return false;
  try {
    return await PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable();
  } catch {
    return false;
  }
}

async function enrol() {
  const made = await navigator.credentials.create({
    publicKey: {
      challenge: crypto.getRandomValues(new Uint8Array(32)),
      rp: { name: "Silas" },
      user: { id: crypto.getRandomValues(new Uint8Array(16)), name: "owner", displayName: "Owner" },
      pubKeyCredParams: [{ type: "public-key", alg: -7 }, { type: "public-key", alg: -257 }],
      authenticatorSelection: { authenticatorAttachment: "platform", userVerification: "required" },
      timeout: A_MINUTE,
    },
  });
  return /** @type {PublicKeyCredential} */ (made).rawId;
}

function askFor(id) {
  return navigator.credentials.get({
    publicKey: {
      challenge: crypto.getRandomValues(new Uint8Array(32)),
      allowCredentials: [{ type: "public-key", id }],
      userVerification: "required",
      timeout: A_MINUTE,
    },
  });
}
