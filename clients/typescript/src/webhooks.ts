/** Receives webhooks: answers the verification request, checks signatures, and gives each update its type. */
import { type FieldUpdate, messagingFields } from "./generated/webhooks.ts";

/** The headers of a request: a `Headers` object, or an object like `request.headers` of Node. */
export type HeadersGiven = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface Received {
  /** The bytes of the body, or the same bytes as text. Do not pass JSON that was parsed and written again, because its signature differs. */
  readonly body: string | Uint8Array;
  readonly headers: HeadersGiven;
  readonly appSecret: string;
  /** The greatest age in seconds of a signature that has a time. Default: 300. */
  readonly toleranceSeconds?: number;
}

/** One update of a webhook. `field` determines the type of `value`. */
export type Update = FieldUpdate & {
  /** The id of the account or page that the update is about. */
  readonly entity: string;
  /** The time of the update, in Unix seconds. */
  readonly time: number;
};

export interface Webhook {
  /** The id of the delivery, which stays the same when the server sends the delivery again. A delivery can arrive more than once. */
  readonly id: string | undefined;
  /** The updates of the delivery, in the order in which the server sent them. */
  readonly updates: readonly Update[];
}

/**
 * The error if the server did not sign the body, or if the signature is too old. Respond to a request with this error with a status of 400 or more.
 */
export class SignatureError extends Error {
  override readonly name = "SignatureError";
}

/**
 * Returns the challenge to send back, as text and with status 200, to a request that verifies the callback. Returns undefined if the request does not
 * verify the callback or has a wrong verify token; in this case respond with status 403. `url` may be a path with a query, such as `request.url` of
 * Node.
 */
export function challengeOf(url: string | URL, verifyToken: string): string | undefined {
  const { searchParams } = new URL(url, "http://callback");
  const isOurs = searchParams.get("hub.mode") === "subscribe" && searchParams.get("hub.verify_token") === verifyToken;
  return isOurs ? (searchParams.get("hub.challenge") ?? undefined) : undefined;
}

const encoder = new TextEncoder();

/** Checks the signature of a webhook and returns its updates. Throws SignatureError if the signature is not valid. */
export async function readWebhook({ body, headers, appSecret, toleranceSeconds = 300 }: Received): Promise<Webhook> {
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  const [id, time, signatures, platform] = ["webhook-id", "webhook-timestamp", "webhook-signature", "x-hub-signature-256"].map((name) =>
    headerOf(headers, name),
  );
  const key = await crypto.subtle.importKey("raw", encoder.encode(appSecret), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  const isSigned = async (signature: Uint8Array<ArrayBuffer> | undefined, signed: Uint8Array): Promise<boolean> =>
    signature !== undefined && (await crypto.subtle.verify("HMAC", key, signature, new Uint8Array(signed)));
  if (id !== undefined && time !== undefined && signatures !== undefined) {
    // If the headers of Standard Webhooks are present, only these headers are checked: they contain a time, and they contain signatures of the old
    // and the new secret while an app's secret is being replaced.
    const signed = joined(encoder.encode(`${id}.${time}.`), bytes);
    const checked = await Promise.all(
      signatures.split(" ").map((one) => isSigned(one.startsWith("v1,") ? fromBase64(one.slice(3)) : undefined, signed)),
    );
    if (!checked.includes(true)) throw new SignatureError("the body is not signed with the app's secret");
    if (!(Math.abs(Date.now() / 1000 - Number(time)) <= toleranceSeconds))
      throw new SignatureError("the signature is too old, or its time is in the future");
  } else if (!(await isSigned(fromHex(platform?.replace(/^sha256=/, "")), bytes)))
    throw new SignatureError("the body is not signed with the app's secret");
  return { id, updates: updatesOf(JSON.parse(new TextDecoder().decode(bytes))) };
}

function headerOf(headers: HeadersGiven, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const found = Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  return typeof found === "string" ? found : found?.[0];
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    return undefined;
  }
}

const fromHex = (text: string | undefined): Uint8Array<ArrayBuffer> | undefined =>
  text !== undefined && /^(?:[0-9a-f]{2})+$/.test(text) ? Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)) : undefined;

interface Envelope {
  readonly object: string;
  readonly entry: readonly {
    readonly id: string;
    readonly time: number;
    readonly changes?: readonly { readonly field: string; readonly value: unknown }[];
    readonly messaging?: readonly unknown[];
  }[];
}

const updatesOf = ({ object, entry }: Envelope): Update[] =>
  entry.flatMap(({ id, time, changes = [], messaging = [] }) =>
    [...changes, ...messaging.map((value) => ({ field: messagingFields[object], value }))].map(
      // The signature proves that the server sent the update, so the update's value has the type that the contract gives to its field.
      ({ field, value }) => ({ object, field, value, entity: id, time }) as Update,
    ),
  );
