/** From a call on the socket to the stairs and back. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { climb, Stairs } from "#graph/ladder";
import type { GraphRequest, GraphResponse } from "#graph/request";
import { excerpt } from "#graph/request-log";
import { bodyTooLarge, type GraphError, headersTooLarge, internalError, malformedRequest, overloaded } from "#kernel/errors";
import { monotonicMs } from "#system";
import type { CallFigures } from "#telemetry/figures";
import { writeAnswer } from "./answers.ts";
import { findHeader, headBytes, type RawHeaders, splitTarget, type Target } from "./arrived.ts";
import { defectiveBody, NO_BODY, type ParsedBody, parseBody } from "./body.ts";
import { PREFLIGHT_HEADERS } from "./cors.ts";
import { type RouteHandler, type RouteTable, requestOf, writeResponse } from "./extra-routes.ts";
import type { HttpLimits } from "./limits.ts";
import type { Origins } from "./origin.ts";
import { type ParsedPairs, parsePairs } from "./pairs.ts";
import type { Place, Places } from "./places.ts";
import { receiveBody } from "./receive.ts";
import { formOf, preflight, refusal } from "./refusals.ts";

export interface CallsOptions {
  readonly stairs: Stairs;
  readonly climb: typeof climb;
  readonly places: Places;
  readonly origins: Origins;
  readonly routes: RouteTable;
  readonly limits: HttpLimits;
  readonly figures: CallFigures;
}

/** A call of which the head is read. */
interface Head {
  readonly method: string;
  readonly target: Target;
  readonly raw: RawHeaders;
  readonly place: Place;
  readonly baseUrl: string;
}

/** Told of what is wrong with a call's body while the rest of it is unread, so that the connection ends with the answer. */
interface Taken {
  readonly body: ParsedBody;
  readonly isUnread: boolean;
}

const NOTHING_TAKEN: Taken = { body: NO_BODY, isUnread: false };

export class Calls {
  readonly #options: CallsOptions;
  /** Set when the server stops: no new calls, and connections end with the answer. */
  isStopping = false;

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const startedMs = monotonicMs();
    const head = this.#headOf(incoming);
    try {
      const route = this.#options.routes.find(head.method, head.place);
      if (route !== undefined) await this.#answerRoute(route, head, response);
      else if (head.method === "OPTIONS") this.#answerPreflight(head, response, startedMs);
      else await this.#answerGraph(head, incoming, response, startedMs);
    } catch (error) {
      this.#fail(error, head, response, startedMs);
    }
  }

  async #answerGraph(head: Head, incoming: IncomingMessage, response: ServerResponse, startedMs: number): Promise<void> {
    const taken = hasBody(head.raw) ? await this.#takeBody(head, incoming, response) : NOTHING_TAKEN;
    if (taken === "gone") return;
    const request = this.#requestOf(head, taken.body);
    const answer = await this.#climb(head, request);
    writeAnswer(response, answer, { isHead: head.method === "HEAD", isLast: taken.isUnread || this.isStopping });
    const durationMs = monotonicMs() - startedMs;
    this.#options.figures.record(answer.operation, answer.status, durationMs);
    record(head, taken.body, answer, durationMs);
  }

  async #climb({ place }: Head, request: GraphRequest): Promise<GraphResponse> {
    const { stairs, figures, limits } = this.#options;
    if (this.isStopping || figures.inFlight >= limits.callsMax) {
      figures.turnedAway++;
      return refusal(stairs, place.world, place.surface, overloaded(1), formOf(stairs, request));
    }
    figures.inFlight++;
    try {
      return await this.#options.climb(stairs, place.world, request);
    } finally {
      figures.inFlight--;
    }
  }

  #headOf(incoming: IncomingMessage): Head {
    const raw = incoming.rawHeaders;
    const target = splitTarget(incoming.url ?? "/");
    const origin = this.#options.origins.of(raw, target.authority, () => incoming.socket.remoteAddress);
    const place = this.#options.places.locate(origin.host, target.path);
    return { method: incoming.method ?? "GET", target, raw, place, baseUrl: `${origin.scheme}://${origin.host}${place.mount}` };
  }

  #requestOf({ method, target, raw, place, baseUrl }: Head, body: ParsedBody): GraphRequest {
    const { limits } = this.#options;
    const query = parsePairs(target.queryText, "The query", limits.parametersMax);
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

  async #takeBody({ raw, place }: Head, incoming: IncomingMessage, response: ServerResponse): Promise<Taken | "gone"> {
    const { limits } = this.#options;
    const bytesMax = limits.bodyBytesMaxFor?.(place.surface, place.path) ?? limits.bodyBytesMax;
    if (Number(findHeader(raw, "content-length") ?? 0) > bytesMax) return { body: defectiveBody(bodyTooLarge(bytesMax)), isUnread: true };
    const encoding = findHeader(raw, "content-encoding")?.trim().toLowerCase();
    if (encoding !== undefined && encoding !== "identity" && encoding !== "")
      return { body: defectiveBody(malformedRequest(`The Content-Encoding ${encoding} is not supported; send the body as it is`)), isUnread: true };
    if (findHeader(raw, "expect")?.toLowerCase() === "100-continue") response.writeContinue();
    const received = await receiveBody(incoming, bytesMax, limits.bodyMsMax);
    if (received === "gone") return received;
    if ("defect" in received) return { body: defectiveBody(received.defect), isUnread: true };
    return { body: parseBody(received.bytes, findHeader(raw, "content-type"), limits.parametersMax), isUnread: false };
  }

  #answerPreflight({ place, raw }: Head, response: ServerResponse, startedMs: number): void {
    const answer = preflight(this.#options.stairs, place.world, place.surface, PREFLIGHT_HEADERS);
    writeAnswer(response, answer, { isHead: false, isLast: this.isStopping || hasBody(raw) });
    this.#options.figures.record("preflight", answer.status, monotonicMs() - startedMs);
  }

  async #answerRoute(route: RouteHandler, head: Head, response: ServerResponse): Promise<void> {
    const place = { ...head.place, baseUrl: head.baseUrl };
    const answer = await route(requestOf(head.method, place, head.target.queryText, head.raw), place);
    await writeResponse(response, answer, head.method === "HEAD");
  }

  /** A mistake of this program, outside of the stairs. */
  #fail(error: unknown, { place, method }: Head, response: ServerResponse, startedMs: number): void {
    const { stairs, figures } = this.#options;
    const answer = refusal(stairs, place.world, place.surface, internalError(), "wrapped");
    stairs.onUnexpected(error, answer.traceId);
    figures.record(answer.operation, answer.status, monotonicMs() - startedMs);
    if (response.headersSent) response.destroy();
    else writeAnswer(response, answer, { isHead: method === "HEAD", isLast: true });
  }
}

/** RFC 9112, 6.3: a call has a body when it says its length or that it comes in chunks. */
function hasBody(raw: RawHeaders): boolean {
  const length = findHeader(raw, "content-length");
  return length === undefined ? findHeader(raw, "transfer-encoding") !== undefined : length !== "0";
}

function defectOf(bytes: number, limits: HttpLimits, query: ParsedPairs, body: ParsedBody): GraphError | undefined {
  if (bytes > limits.headerBytesMax) return headersTooLarge(limits.headerBytesMax);
  return query.defect ?? body.defect;
}

function record({ method, target, place }: Head, body: ParsedBody, answer: GraphResponse, durationMs: number): void {
  const { world, surface, path } = place;
  world.requests.add({
    trace_id: answer.traceId,
    operation: answer.operation,
    method,
    surface,
    path,
    query: target.queryText,
    status: answer.status,
    time: world.clock.nowMs(),
    duration_ms: durationMs,
    app: answer.app,
    request_body: excerpt(body.text),
    response_body: excerpt(answer.body),
  });
}
