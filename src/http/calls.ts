/** From a call on the socket to the stairs and back. */
import type { climb, Stairs } from "#graph/ladder";
import type { GraphRequest, GraphResponse } from "#graph/request";
import { bodyTooLarge, type GraphError, headersTooLarge, internalError, malformedRequest } from "#kernel/errors";
import { monotonicMs } from "#system";
import type { CallFigures } from "#telemetry/figures";
import { writeAnswer } from "./answers.ts";
import { findHeader, headBytes, type RawHeaders, splitTarget, type Target } from "./arrived.ts";
import { defectiveBody, NO_BODY, type ParsedBody, parseBody } from "./body.ts";
import type { Connection, Received } from "./connection.ts";
import { PREFLIGHT_HEADERS } from "./cors.ts";
import { type RouteHandler, type RouteTable, requestOf, writeResponse } from "./extra-routes.ts";
import type { RequestHead } from "./head.ts";
import type { HttpLimits } from "./limits.ts";
import type { Origins } from "./origin.ts";
import { type ParsedPairs, parsePairs } from "./pairs.ts";
import type { Place, Places } from "./places.ts";
import { preflight, Resting, refusal, turnedAway } from "./refusals.ts";

export interface CallsOptions {
  readonly stairs: Stairs;
  readonly climb: typeof climb;
  readonly places: Places;
  readonly origins: Origins;
  readonly routes: RouteTable;
  readonly limits: HttpLimits;
  readonly figures: CallFigures;
}

/** A call of which the head is read and the place is known. */
interface Call {
  readonly head: RequestHead;
  readonly connection: Connection;
  readonly target: Target;
  readonly query: ParsedPairs;
  readonly place: Place;
  readonly baseUrl: string;
  readonly startedMs: number;
  /** 0 until it is there. */
  bodyBytes: number;
}

/** `unread`: it is off the connection, and not worth reading, because the call is turned away. */
type TakenBody = ParsedBody | "gone" | "unread";

export class Calls {
  readonly #options: CallsOptions;
  /** Set when the server stops: no new calls, and connections end with the answer. */
  isStopping = false;
  /** Bodies of the calls that are on the stairs. */
  #bytesInFlight = 0;
  /** What the bodies that are on their way may come to. */
  #bytesArriving = 0;
  readonly #resting = new Resting();

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async answer(head: RequestHead, connection: Connection): Promise<void> {
    const call = this.#callOf(head, connection);
    try {
      const route = this.#options.routes.find(head.method, call.place);
      if (route !== undefined) await answerRoute(route, call);
      else if (head.method === "OPTIONS") this.#answerPreflight(call);
      else {
        const taken = head.framing === 0 ? NO_BODY : this.#takeBody(call);
        const body = taken instanceof Promise ? await taken : taken;
        if (body === "unread" || (body !== "gone" && this.#isFull)) this.#turnAway(call);
        else if (body !== "gone") this.#answered(call, body, await this.#climb(call, this.#requestOf(call, body)));
      }
    } catch (error) {
      this.#fail(error, call);
    }
  }

  async #climb({ place, bodyBytes }: Call, request: GraphRequest): Promise<GraphResponse> {
    const { stairs, figures } = this.#options;
    figures.inFlight++;
    this.#bytesInFlight += bodyBytes;
    try {
      return await this.#options.climb(stairs, place.world, request);
    } finally {
      figures.inFlight--;
      this.#bytesInFlight -= bodyBytes;
    }
  }

  #answered(call: Call, body: ParsedBody, answer: GraphResponse): void {
    writeAnswer(call.connection, answer, call.head.method === "HEAD");
    const durationMs = monotonicMs() - call.startedMs;
    this.#options.figures.record(answer.operation, answer.status, durationMs);
    record(call, body, answer, durationMs);
  }

  get #isFull(): boolean {
    const { figures, limits } = this.#options;
    return this.isStopping || figures.inFlight >= limits.callsMax || this.#bytesInFlight >= limits.callBytesMax;
  }

  /** Costs a small part of what the call would: its body is not looked at, and its connection rests. */
  #turnAway(call: Call): void {
    const { stairs, figures } = this.#options;
    const { head, connection, place, startedMs } = call;
    figures.turnedAway++;
    const seconds = this.#resting.seconds;
    const answer = turnedAway(stairs, place.world, this.#requestOf(call, NO_BODY), seconds);
    this.#resting.write(connection, answer, head.method === "HEAD", seconds);
    const durationMs = monotonicMs() - startedMs;
    figures.record(answer.operation, answer.status, durationMs);
    record(call, NO_BODY, answer, durationMs);
  }

  #callOf(head: RequestHead, connection: Connection): Call {
    const startedMs = monotonicMs();
    head.asked ??= this.#read(head.target);
    const { target, query } = head.asked;
    const origin = this.#options.origins.of(head.raw, target.authority, connection);
    const place = this.#options.places.locate(origin.host, target.path);
    return { head, connection, target, query, place, baseUrl: `${origin.scheme}://${origin.host}${place.mount}`, startedMs, bodyBytes: 0 };
  }

  #read(text: string): NonNullable<RequestHead["asked"]> {
    const target = splitTarget(text);
    return { target, query: parsePairs(target.queryText, "The query", this.#options.limits.parametersMax) };
  }

  #requestOf({ head, target, query, place, baseUrl }: Call, body: ParsedBody): GraphRequest {
    const { limits } = this.#options;
    const { method, raw } = head;
    return {
      surface: place.surface,
      method,
      path: place.path,
      queryText: target.queryText,
      query: query.parameters,
      body: body.parameters,
      files: body.files,
      header: (name) => findHeader(raw, name),
      baseUrl,
      defect: defectOf(headBytes(target, raw), limits, query, body),
      batchDepth: 0,
    };
  }

  /** Where something is wrong with it the rest stays unread, and the connection ends with the answer. */
  #takeBody(call: Call): TakenBody | Promise<TakenBody> {
    const { head, connection, place } = call;
    const { limits } = this.#options;
    const { raw, framing } = head;
    const bytesMax = limits.bodyBytesMaxFor?.(place.surface, place.path) ?? limits.bodyBytesMax;
    if (framing !== "chunked" && framing > bytesMax) return defectiveBody(bodyTooLarge(bytesMax));
    const encoding = findHeader(raw, "content-encoding")?.toLowerCase();
    if (encoding !== undefined && encoding !== "identity" && encoding !== "")
      return defectiveBody(malformedRequest(`The Content-Encoding ${encoding} is not supported; send the body as it is`));
    if (!head.isHttp10 && findHeader(raw, "expect")?.toLowerCase() === "100-continue") connection.writeContinue();
    const bytes = framing === "chunked" ? bytesMax : framing;
    const received = connection.receiveBody(bytesMax, limits.bodyMsMax, this.#bytesArriving + bytes <= limits.arrivingBytesMax);
    if (!(received instanceof Promise)) return this.#bodyOf(received, raw, call);
    this.#bytesArriving += bytes;
    return received.then((later) => {
      this.#bytesArriving -= bytes;
      return this.#bodyOf(later, raw, call);
    });
  }

  #bodyOf(received: Received, raw: RawHeaders, call: Call): TakenBody {
    if (received === "gone") return received;
    if ("defect" in received) return defectiveBody(received.defect);
    if (this.#isFull) return "unread";
    call.bodyBytes = received.bytes.length;
    return parseBody(received.bytes, findHeader(raw, "content-type"), this.#options.limits.parametersMax);
  }

  #answerPreflight({ connection, place, startedMs }: Call): void {
    const answer = preflight(this.#options.stairs, place.world, place.surface, PREFLIGHT_HEADERS);
    writeAnswer(connection, answer, false);
    this.#options.figures.record("preflight", answer.status, monotonicMs() - startedMs);
  }

  /** A mistake of this program, outside of the stairs. */
  #fail(error: unknown, { head, connection, place, startedMs }: Call): void {
    const { stairs, figures } = this.#options;
    const answer = refusal(stairs, place.world, place.surface, internalError(), "wrapped");
    stairs.onUnexpected(error, answer.traceId);
    figures.record(answer.operation, answer.status, monotonicMs() - startedMs);
    if (connection.hasBegunAnswer) connection.cut();
    else writeAnswer(connection, answer, head.method === "HEAD");
  }
}

async function answerRoute(route: RouteHandler, { head, connection, target, place, baseUrl }: Call): Promise<void> {
  const answer = await route(requestOf(head.method, { ...place, baseUrl }, target.queryText, head.raw), { ...place, baseUrl });
  await writeResponse(connection, answer, head.method === "HEAD");
}

function defectOf(bytes: number, limits: HttpLimits, query: ParsedPairs, body: ParsedBody): GraphError | undefined {
  if (bytes > limits.headerBytesMax) return headersTooLarge(limits.headerBytesMax);
  return query.defect ?? body.defect;
}

function record({ head, target, place }: Call, body: ParsedBody, answer: GraphResponse, durationMs: number): void {
  const { world, surface, path } = place;
  world.requests.add({
    trace_id: answer.traceId,
    operation: answer.operation,
    method: head.method,
    surface,
    path,
    query: target.queryText,
    status: answer.status,
    time: world.clock.nowMs(),
    duration_ms: durationMs,
    app: answer.app,
    request_body: body.text,
    response_body: answer.body,
  });
}
