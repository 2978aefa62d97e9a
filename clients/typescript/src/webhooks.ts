/** Webhooks: the handshake, signatures, and updates with their types. */
import { type FieldUpdate, messagingFields } from "./generated/webhooks.ts";

/** As a framework gives them: `Headers`, or an object of Node. */
export type HeadersGiven = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface Received {
  /** The bytes of the body, or exactly their text: JSON that was parsed and written again has another signature. */
  readonly body: string | Uint8Array;
  readonly headers: HeadersGiven;
  readonly appSecret: string;
  /** How old a signature with a time may be: 300 unless given. */
  readonly toleranceSeconds?: number;
}

/** An update: its account or page, its time, and its `value`, whose type `field` tells. */
export type Update = FieldUpdate & {
  /** The account or page. */
  readonly entity: string;
  /** Unix seconds. */
  readonly time: number;
};

export interface Webhook {
  /** The same in all attempts: a delivery can come more than once. */
  readonly id: string | undefined;
  /** In their order. */
  readonly updates: readonly Update[];
}

/** The body does not come from the server, or is too old. Answer with a status of 400 or more. */
export class SignatureError extends Error {
  override readonly name = "SignatureError";
}

/**
 * The challenge to answer a verification with, as text and with status 200. `url` may be the path and query alone, as Node's `request.url` is. Undefined if
 * the request is not a verification or has another verify token. Answer it with 403.
 */
export function challengeOf(url: string | URL, verifyToken: string): string | undefined {
  const { searchParams } = new URL(url, "http://callback");
  const isOurs = searchParams.get("hub.mode") === "subscribe" && searchParams.get("hub.verify_token") === verifyToken;
  return isOurs ? (searchParams.get("hub.challenge") ?? undefined) : undefined;
}

const encoder = new TextEncoder();

/** Verifies a delivery and reads it. Throws SignatureError. */
export async function readWebhook({ body, headers, appSecret, toleranceSeconds = 300 }: Received): Promise<Webhook> {
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  const [id, time, signatures, platform] = ["webhook-id", "webhook-timestamp", "webhook-signature", "x-hub-signature-256"].map((name) =>
    headerOf(headers, name),
  );
  const key = await crypto.subtle.importKey("raw", encoder.encode(appSecret), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  const isSigned = async (signature: Uint8Array<ArrayBuffer> | undefined, signed: Uint8Array): Promise<boolean> =>
    signature !== undefined && (await crypto.subtle.verify("HMAC", key, signature, new Uint8Array(signed)));
  if (id !== undefined && time !== undefined && signatures !== undefined) {
    // This one has a time and, while an app's secret is replaced, both secrets' signatures, so it decides where it is sent.
    const signed = joined(encoder.encode(`${id}.${time}.`), bytes);
    const checked = await Promise.all(
      signatures.split(" ").map((one) => isSigned(one.startsWith("v1,") ? fromBase64(one.slice(3)) : undefined, signed)),
    );
    if (!checked.includes(true)) throw new SignatureError("the body has no signature of the app's secret");
    if (!(Math.abs(Date.now() / 1000 - Number(time)) <= toleranceSeconds)) throw new SignatureError("the signature is too old, or of the future");
  } else if (!(await isSigned(fromHex(platform?.replace(/^sha256=/, "")), bytes)))
    throw new SignatureError("the body has no signature of the app's secret");
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
      // The signature proves the sender, and the contract gives the type.
      ({ field, value }) => ({ object, field, value, entity: id, time }) as Update,
    ),
  );
