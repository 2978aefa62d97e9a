/** Signed requests: texts of the form of D-385, with which Plaza and other servers prove what they say. */
import { createHmac, timingSafeEqual } from "node:crypto";

const ALGORITHM = "HMAC-SHA256";

type Payload = Readonly<Record<string, unknown>>;

const signatureOf = (encoded: string, secret: string): Buffer => createHmac("sha256", secret).update(encoded).digest();

/**
 * A signed request: the signature, a dot and the payload, both in base64url. The signature is the HMAC-SHA256 of the encoded payload with the secret.
 */
export function signedRequest(payload: Payload, secret: string): string {
  const encoded = Buffer.from(JSON.stringify({ algorithm: ALGORITHM, ...payload })).toString("base64url");
  return `${signatureOf(encoded, secret).toString("base64url")}.${encoded}`;
}

/** The payload of a signed request, and its text, which nobody can change. Undefined if the signature is wrong. */
export function payloadOf(given: string, secret: string): { readonly payload: Payload; readonly encoded: string } | undefined {
  const [signature = "", encoded = "", ...more] = given.split(".");
  const [made, sent] = [signatureOf(encoded, secret), Buffer.from(signature, "base64url")];
  if (more.length > 0 || made.length !== sent.length || !timingSafeEqual(made, sent)) return undefined;
  const payload = objectIn(Buffer.from(encoded, "base64url").toString("utf8"));
  return payload.algorithm === ALGORITHM ? { payload, encoded } : undefined;
}

/** The object that a JSON text holds. Other texts count as an empty object. */
export function objectIn(text: string): Payload {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Payload) : {};
  } catch {
    return {};
  }
}
