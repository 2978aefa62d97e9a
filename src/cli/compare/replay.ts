/** Sends the requests of a recording one after the other, each request to both servers. */
import { send, type WireRequest, type WireResponse } from "#conformance/http/wire";
import { bodyOf, type Compared, learnCursors, learnIds, type Translation, translatedText } from "./differences.ts";
import { encodingOf, isBelow, type RecordedRequest, type Recording } from "./read-har.ts";
import { type Sent, withoutSecrets, withSecrets } from "./secrets.ts";

export interface Server {
  readonly base: URL;
  /** Returns the value of a recorded secret on this server, or undefined if the user did not give a value. */
  secretOf(secret: string): string | undefined;
}

export interface Replayed extends Omit<Compared, "form"> {
  readonly method: string;
  /** The path and query below the base address. */
  readonly target: string;
  /** The status of the recorded response; undefined if no response was recorded. */
  readonly recordedStatus: number | undefined;
}

/** Matches headers that are not sent again, because they belong to one connection or are pseudo-headers of HTTP/2. */
const OF_THE_CONNECTION = /^(:.*|host|connection|keep-alive|content-length|transfer-encoding|accept-encoding|upgrade|te)$/i;

export async function* replay(recording: Recording, first: Server, second: Server, { ids, addresses }: Translation): AsyncGenerator<Replayed> {
  addresses.push([withoutSlash(second.base.href), withoutSlash(first.base.href)]);
  const recordedBase = withoutSlash(recording.base);
  const [ofFirst, ofSecond] = [new Known(), new Known()];
  for (const request of recording.requests) {
    if (!isBelow(request.url, recordedBase)) continue;
    const { method } = request;
    const sent = sentOf(request, recordedBase);
    const [one, other] = await Promise.all([ask(first, request, sent, ofFirst), ask(second, request, sent, ofSecond)]);
    const recorded = bodyOf(request.responseText);
    ofFirst.learn(method, recorded, bodyOf(one.text));
    ofSecond.learn(method, recorded, bodyOf(other.text));
    learnIds(method, bodyOf(other.text), bodyOf(one.text), ids);
    const named = { method, target: sent.target, request: `${method} ${withoutSecrets(sent).target}` };
    yield { ...named, recordedStatus: request.status, first: one, second: other };
  }
}

/** Maps the ids and cursors in the recording to the corresponding ids and cursors of one server. */
class Known {
  readonly #ids = new Map<string, string>();
  readonly #cursors = new Map<string, string>();

  learn(method: string, recorded: unknown, own: unknown): void {
    learnIds(method, recorded, own, this.#ids);
    learnCursors(recorded, own, this.#cursors);
  }

  translated(text: string): string {
    const cursors = /after|before/.test(text) ? [...this.#cursors] : [];
    const written = cursors.flatMap(([one, other]) => [
      [one, other],
      [encodeURIComponent(one), encodeURIComponent(other)],
    ]);
    return this.#inParts(
      text,
      written.filter(([one = ""]) => text.includes(one)),
    );
  }

  /** Replaces the cursors before the ids, because digits inside a cursor are not an id. */
  #inParts(text: string, [first, ...rest]: readonly string[][]): string {
    if (first === undefined) return translatedText(text, this.#ids);
    const [one = "", other] = first;
    return text
      .split(one)
      .map((part) => this.#inParts(part, rest))
      .join(other);
  }
}

const withoutSlash = (address: string): string => address.replace(/\/$/, "");

function sentOf(request: RecordedRequest, base: string): Sent {
  const headers = request.headers.filter(([name]) => !OF_THE_CONNECTION.test(name));
  return { target: request.url.slice(base.length) || "/", headers, body: request.body.toString(encodingOf(request)) };
}

async function ask({ base, secretOf }: Server, request: RecordedRequest, sent: Sent, known: Known): Promise<WireResponse> {
  const { target, headers, body } = withSecrets(sent, request.secrets, secretOf);
  const wire: WireRequest = {
    method: request.method,
    origin: base.origin,
    target: `${withoutSlash(base.pathname)}${known.translated(target)}`,
    headers,
    ...(body === "" ? {} : { body: Buffer.from(known.translated(body), encodingOf(request)) }),
  };
  return await send(wire).catch((error: unknown) => noResponse(error));
}

/** If a server does not respond, makes a substitute for the response, which differs from every real response. */
const noResponse = (error: unknown): WireResponse => ({
  status: 0,
  headers: new Map(),
  text: error instanceof Error ? error.message : String(error),
});
