/** Makes and reads signed requests (D-385). A signed request is a text whose signature proves which server wrote the text. */
import { createHmac, timingSafeEqual } from "node:crypto";

const ALGORITHM = "HMAC-SHA256";

type Payload = Readonly<Record<string, unknown>>;

const signatureOf = (encoded: string, secret: string): Buffer => createHmac("sha256", secret).update(encoded).digest();

/**
 * Returns a signed request: the signature, a dot, and the payload. The signature and the payload of a signed request are encoded in base64url. The
 * signature is the HMAC-SHA256 of the encoded payload with the secret.
 */
export function signedRequest(payload: Payload, secret: string): string {
  const encoded = Buffer.from(JSON.stringify({ algorithm: ALGORITHM, ...payload })).toString("base64url");
  return `${signatureOf(encoded, secret).toString("base64url")}.${encoded}`;
}

/** Returns the payload of a signed request, and the encoded text that was signed. Returns undefined if the signature is wrong. */
export function payloadOf(given: string, secret: string): { readonly payload: Payload; readonly encoded: string } | undefined {
  const [signature = "", encoded = "", ...more] = given.split(".");
  const [made, sent] = [signatureOf(encoded, secret), Buffer.from(signature, "base64url")];
  if (more.length > 0 || made.length !== sent.length || !timingSafeEqual(made, sent)) return undefined;
  const payload = objectIn(Buffer.from(encoded, "base64url").toString("utf8"));
  return payload.algorithm === ALGORITHM ? { payload, encoded } : undefined;
}

/** Returns the object in a JSON text, or an empty object if the text is not a JSON object. */
export function objectIn(text: string): Payload {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Payload) : {};
  } catch {
    return {};
  }
}
