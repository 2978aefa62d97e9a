/** What a listener gives to the rest of src/http, whichever HTTP implementation it stands on. */
import type { Certificate } from "#config/certificate";
import type { ConnectionMetrics } from "#telemetry/request-metrics";
import type { ReceivedBody } from "../http1/incoming-body.ts";
import type { ProtocolProblem, RequestHead } from "../http1/request-head.ts";
import type { ResponseHead, TextResponse } from "../http1/response-writer.ts";
import type { HttpLimits } from "../limits.ts";

/** One request on its connection: its body, and its one response. */
export interface Exchange {
  readonly remoteAddress: string | undefined;
  readonly isGone: boolean;
  /** The connection ends with the response. */
  readonly isLast: boolean;
  /** Part of the response has left. */
  readonly hasBegunResponse: boolean;
  /** The body, where it has arrived with the head or is refused. Undefined where it has to be waited for. */
  receiveBody(bytesMax: number): ReceivedBody | undefined;
  /** The body that `receiveBody` did not give; it must end within `msMax`, and `hasCapacity` be true of what has arrived of it. */
  awaitBody(msMax: number, hasCapacity: (bytes: number) => boolean): Promise<ReceivedBody>;
  /** A whole response; its body is not sent to HEAD. */
  send(response: TextResponse): void;
  /** A response whose body is sent part by part, no faster than the client reads it. */
  stream(response: ResponseHead, body: AsyncIterable<Uint8Array> | undefined): Promise<void>;
  /** After the response: nothing more is read for a while, and then `finish` is called. */
  rest(): void;
  /** After the response: the next request on the connection may be read. */
  finish(): void;
  /** In place of `finish`: the connection ends after what has been sent, be it a whole response or not. */
  end(): void;
  /** Resets the connection at once. */
  abort(): void;
}

export interface ListenOptions {
  readonly hostname: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Several processes listen on the port. */
  readonly reusePort: boolean;
  /** Plain HTTP where it is undefined. */
  readonly certificate: Certificate | undefined;
  readonly limits: HttpLimits;
  /** Kept up to date. */
  readonly metrics: ConnectionMetrics;
  /** Headers that every response has. */
  readonly commonHeaders: Readonly<Record<string, string>>;
  /** Sends one response, now or later, and then calls `finish`. Never throws. */
  dispatch(head: RequestHead, exchange: Exchange): void;
  /** The response to bytes that are no request. */
  refusal(problem: ProtocolProblem): TextResponse;
}

interface Listener {
  readonly port: number;
  /** No new requests; running ones end, but after `graceMs` they are cut off. */
  stop(graceMs: number): Promise<void>;
}

/** Rejects when the address cannot be listened on. */
export type Listen = (options: ListenOptions) => Promise<Listener>;
