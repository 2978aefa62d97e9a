/**
 * A collector of traces on loopback: takes OTLP over HTTP (opentelemetry.io/docs/specs/otlp), and reads its protocol buffers by the numbers of their
 * fields (opentelemetry-proto, `trace/v1/trace.proto`).
 */
import { afterThisTest } from "../cleanup.ts";

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parent: string;
  readonly state: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly links: readonly string[];
  readonly hasFailed: boolean;
  /** The attributes of the process. */
  readonly resource: CollectedSpan["attributes"];
}

export interface Collector {
  readonly url: string;
  readonly spans: CollectedSpan[];
  /** The bodies of all requests to the collector, as text. */
  readonly texts: string[];
  /** Responds to a request, with status 200 by default. */
  response: () => Response | Promise<Response>;
  /** The promise resolves with the first span for which `isIt` is true, once the collector has it. */
  span(isIt: (span: CollectedSpan) => boolean): Promise<CollectedSpan>;
}

export function startCollector(port = 0): Collector {
  const [spans, texts, waiting]: [CollectedSpan[], string[], (() => void)[]] = [[], [], []];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port,
    idleTimeout: 0,
    async fetch(request) {
      const body = new Uint8Array(await request.arrayBuffer());
      const response = await collector.response();
      const isTrace = request.method === "POST" && new URL(request.url).pathname === "/v1/traces";
      if (!isTrace || request.headers.get("content-type") !== "application/x-protobuf") return new Response("unknown", { status: 400 });
      texts.push(Buffer.from(body).toString("latin1"));
      if (response.ok) spans.push(...spansOf(body));
      for (const wake of waiting.splice(0)) wake();
      return response;
    },
  });
  afterThisTest(() => server.stop(true));
  const collector: Collector = {
    ...{ url: `http://127.0.0.1:${server.port}`, spans, texts },
    response: () => new Response(new Uint8Array()),
    async span(isIt) {
      for (;;) {
        const found = spans.find(isIt);
        if (found !== undefined) return found;
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
  };
  return collector;
}

type Field = bigint | Uint8Array;

const [VARINT, EIGHT_BYTES, BYTES, FOUR_BYTES] = [0, 1, 2, 5];

/** The fields of a protobuf message by number. */
function fieldsOf(message: Uint8Array): Map<number, Field[]> {
  const fields = new Map<number, Field[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++];
      if (byte === undefined) throw new Error("the message ends inside a number");
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const bytes = (count: number): Uint8Array => {
    at += count;
    if (at > message.length) throw new Error("the message ends inside a field");
    return message.subarray(at - count, at);
  };
  while (at < message.length) {
    const tag = Number(varint());
    const readers: Readonly<Record<number, () => Field>> = {
      [VARINT as number]: varint,
      [EIGHT_BYTES as number]: () => Buffer.from(bytes(8)).readBigUInt64LE(),
      [BYTES as number]: () => bytes(Number(varint())),
      [FOUR_BYTES as number]: () => BigInt(Buffer.from(bytes(4)).readUInt32LE()),
    };
    const read = readers[tag & 7];
    if (read === undefined) throw new Error(`a field has the unknown type ${tag & 7}`);
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), read()]);
  }
  return fields;
}

const messages = (fields: Map<number, Field[]>, number: number) => (fields.get(number) ?? []).map((field) => fieldsOf(field as Uint8Array));
const first = (fields: Map<number, Field[]>, number: number): Uint8Array => (fields.get(number)?.[0] as Uint8Array | undefined) ?? new Uint8Array();
const hex = (fields: Map<number, Field[]>, number: number): string => Buffer.from(first(fields, number)).toString("hex");
const text = (fields: Map<number, Field[]>, number: number): string => Buffer.from(first(fields, number)).toString();

function attributesOf(fields: Map<number, Field[]>, number: number): CollectedSpan["attributes"] {
  return Object.fromEntries(
    messages(fields, number).map((pair) => {
      const value = fieldsOf(first(pair, 2));
      const [boolean, integer] = [value.get(2)?.[0], value.get(3)?.[0]];
      return [text(pair, 1), boolean !== undefined ? boolean === 1n : integer !== undefined ? Number(integer) : text(value, 1)];
    }),
  );
}

/** `STATUS_CODE_ERROR`. */
const FAILED = 2n;

const spansOf = (body: Uint8Array): CollectedSpan[] =>
  messages(fieldsOf(body), 1).flatMap((ofProcess) => {
    const resource = attributesOf(fieldsOf(first(ofProcess, 1)), 1);
    return messages(ofProcess, 2)
      .flatMap((ofScope) => messages(ofScope, 2))
      .map((span) => ({
        ...{ traceId: hex(span, 1), spanId: hex(span, 2), state: text(span, 3), parent: hex(span, 4), name: text(span, 5), resource },
        kind: Number(span.get(6)?.[0] ?? 0n),
        attributes: attributesOf(span, 9),
        links: messages(span, 13).map((link) => hex(link, 2)),
        hasFailed: messages(span, 15)[0]?.get(3)?.[0] === FAILED,
      }));
  });
