/** Makes the HTTP request of a step of a case: address, credentials and body. */
import { send, type WireRequest, type WireResponse } from "./wire.ts";

export interface RequestStep {
  readonly method: string;
  /** The path and query as the case writes them, or a complete address. */
  readonly target: string;
  /** The surface that serves the path. Default: `base`. */
  readonly on?: string;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly token?: unknown;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, unknown>>;
  readonly multipart?: Readonly<Record<string, unknown>>;
  readonly body?: string;
  readonly body_hex?: string;
}

/**
 * The parameters and the header in which a request sends its token (Authentication). If a case gives the token as a text, the request has it in
 * both parameters and in the header; if a case gives an object, the object names each of the three.
 */
interface TokenPlaces {
  readonly access_token?: string;
  readonly oauth_token?: string;
  readonly bearer?: string;
}

export interface Sent {
  readonly request: WireRequest;
  readonly response: WireResponse;
}

function placesOf(token: unknown): TokenPlaces {
  if (token === undefined || token === null || token === "none") return {};
  if (typeof token === "string") return { access_token: token, oauth_token: token, bearer: token };
  return token as TokenPlaces;
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/**
 * Writes pairs as a query or form. If a value is a list, the name is repeated for each element; any other value that is not a text is written as
 * JSON.
 */
function encodePairs(pairs: Readonly<Record<string, unknown>>): string {
  return Object.entries(pairs)
    .flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value]).map((item) => `${encodeURIComponent(name)}=${encodeURIComponent(textOf(item))}`),
    )
    .join("&");
}

function compose(step: RequestStep, addresses: Readonly<Record<string, string>>, extraHeaders: Readonly<Record<string, string>> = {}): WireRequest {
  const places = placesOf(step.token);
  const query = encodePairs({
    ...step.query,
    ...(places.access_token === undefined ? {} : { access_token: places.access_token }),
    ...(places.oauth_token === undefined ? {} : { oauth_token: places.oauth_token }),
  });
  const address = absolute(step, addresses);
  const origin = /^https?:\/\/[^/?]+/.exec(address)?.[0];
  if (origin === undefined) throw new Error(`not an address: ${address}`);
  const path = address.slice(origin.length) || "/";
  const target = query === "" ? path : `${path}${path.includes("?") ? "&" : "?"}${query}`;
  const body = bodyOf(step);
  const headers = new Map<string, string>(Object.entries(extraHeaders));
  if (body?.contentType !== undefined) headers.set("Content-Type", body.contentType);
  if (places.bearer !== undefined) headers.set("Authorization", `Bearer ${places.bearer}`);
  for (const [name, value] of Object.entries(step.headers ?? {})) {
    for (const known of headers.keys()) if (known.toLowerCase() === name.toLowerCase()) headers.delete(known);
    if (value !== null) headers.set(name, textOf(value));
  }
  return { method: step.method, origin, target, headers: [...headers], ...(body === undefined ? {} : { body: body.bytes }) };
}

function absolute(step: RequestStep, addresses: Readonly<Record<string, string>>): string {
  if (/^https?:\/\//.test(step.target)) return step.target;
  const surface = step.on ?? "base";
  const address = addresses[surface];
  if (address === undefined) throw new Error(`the server names no address for ${surface}`);
  return address.replace(/\/$/, "") + (step.target.startsWith("/") || step.target.startsWith("?") ? "" : "/") + step.target;
}

interface Body {
  readonly bytes: Uint8Array;
  /** The content type of the body; absent if the case sends raw bytes, because a case with raw bytes sets its headers itself. */
  readonly contentType?: string;
}

function bodyOf(step: RequestStep): Body | undefined {
  if (step.json !== undefined && step.json !== null) return { bytes: Buffer.from(JSON.stringify(step.json)), contentType: "application/json" };
  if (step.form !== undefined) return { bytes: Buffer.from(encodePairs(step.form)), contentType: "application/x-www-form-urlencoded" };
  if (step.multipart !== undefined) return multipart(step.multipart);
  if (step.body !== undefined) return { bytes: Buffer.from(step.body) };
  if (step.body_hex !== undefined) return { bytes: Buffer.from(step.body_hex.replaceAll(" ", ""), "hex") };
  return undefined;
}

interface FilePart {
  readonly filename: string;
  readonly content: string;
  readonly type?: string;
}

const isFile = (value: unknown): value is FilePart => typeof value === "object" && value !== null && "filename" in value;

function multipart(parts: Readonly<Record<string, unknown>>): Body {
  const boundary = "conformance-boundary-7d1f";
  const written = Object.entries(parts).map(([name, value]) => {
    const disposition = `Content-Disposition: form-data; name="${name}"`;
    const head = isFile(value) ? `${disposition}; filename="${value.filename}"\r\nContent-Type: ${value.type ?? "text/plain"}` : disposition;
    return `--${boundary}\r\n${head}\r\n\r\n${isFile(value) ? value.content : textOf(value)}\r\n`;
  });
  return { bytes: Buffer.from(`${written.join("")}--${boundary}--\r\n`), contentType: `multipart/form-data; boundary=${boundary}` };
}

/**
 * Writes the request as a `curl` command for a shell. The command has `$PLAZA_CONTROL_KEY` in place of the control key, because people store and
 * share reports. A body that is not text is left out of the command.
 */
export function curlLine(request: WireRequest, controlKey?: string): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const shortened = (text: string) => (text.length > 4000 ? `${text.slice(0, 4000)}…` : text);
  const parts = ["curl", "--path-as-is", "-g", "-i", "-X", request.method, quoted(shortened(request.origin + request.target))];
  for (const [name, value] of request.headers) {
    const isKey = controlKey !== undefined && value === `Bearer ${controlKey}`;
    parts.push("-H", isKey ? `"${name}: Bearer $PLAZA_CONTROL_KEY"` : quoted(shortened(`${name}: ${value}`)));
  }
  if (request.body !== undefined) parts.push("--data-binary", quoted(shortened(Buffer.from(request.body).toString("utf8"))));
  return parts.join(" ");
}

/**
 * The time limit of a request to the control API. A request that moves the clock ends only when all due jobs have run, for example a year of
 * retries.
 */
const CONTROL_WITHIN_MS = 120_000;

export async function exchange(
  step: RequestStep,
  addresses: Readonly<Record<string, string>>,
  extraHeaders: Readonly<Record<string, string>> = {},
): Promise<Sent> {
  const request = compose(step, addresses, extraHeaders);
  const isAdministrative = step.on === "control" || step.on === "world";
  return { request, response: await send(request, isAdministrative ? CONTROL_WITHIN_MS : undefined) };
}
