/** From a request on the socket to the pipeline and back. */
import type { handleRequest, RequestDeps } from "#graph/pipeline/handle-request";
import type { GraphRequest, GraphResponse } from "#graph/pipeline/request";
import { bodyTooLarge, type GraphError, headersTooLarge, internalError, malformedRequest } from "#kernel/errors";
import { monotonicMs } from "#system";
import type { RequestMetrics } from "#telemetry/request-metrics";
import { findHeader, headBytes, type RawHeaders, splitTarget, type Target } from "./arrived.ts";
import { defectiveBody, NO_BODY, type ParsedBody, parseBody } from "./body/body.ts";
import { type ParsedPairs, parsePairs } from "./body/pairs.ts";
import { PREFLIGHT_HEADERS } from "./cors.ts";
import type { Connection, Received } from "./http1/connection.ts";
import type { RequestHead } from "./http1/head.ts";
import type { HttpLimits } from "./limits.ts";
import type { Origins } from "./origin.ts";
import type { Place, Places } from "./places.ts";
import { preflight, Resting, refusal, turnedAway } from "./refusals.ts";
import { writeResponse } from "./responses.ts";
import { type RouteHandler, type RouteTable, requestOf, writeWebResponse } from "./routes/extra-routes.ts";

export interface RequestDispatcherOptions {
  readonly deps: RequestDeps;
  readonly handleRequest: typeof handleRequest;
  readonly places: Places;
  readonly origins: Origins;
  readonly routes: RouteTable;
  readonly limits: HttpLimits;
  readonly metrics: RequestMetrics;
}

/** A request of which the head is read and the place is known. */
interface IncomingRequest {
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

/** `unread`: it is off the connection, and not worth reading, because the request is turned away. */
type TakenBody = ParsedBody | "gone" | "unread";

export class RequestDispatcher {
  readonly #options: RequestDispatcherOptions;
  /** Set when the server stops: no new requests, and connections end with the response. */
  isStopping = false;
  /** Bodies of the calls that are in the pipeline. */
  #bytesInFlight = 0;
  /** What the bodies that are on their way may come to. */
  #bytesArriving = 0;
  readonly #resting = new Resting();

  constructor(options: RequestDispatcherOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async response(head: RequestHead, connection: Connection): Promise<void> {
    const incoming = this.#incomingRequestOf(head, connection);
    try {
      const route = this.#options.routes.find(head.method, incoming.place);
      if (route !== undefined) await respondTo(route, incoming);
      else if (head.method === "OPTIONS") this.#respondToPreflight(incoming);
      else {
        const taken = head.framing === 0 ? NO_BODY : this.#takeBody(incoming);
        const body = taken instanceof Promise ? await taken : taken;
        if (body === "unread" || (body !== "gone" && this.#isFull)) this.#turnAway(incoming);
        else if (body !== "gone") this.#responded(incoming, body, await this.#handleRequest(incoming, this.#requestOf(incoming, body)));
      }
    } catch (error) {
      this.#fail(error, incoming);
    }
  }

  async #handleRequest({ place, bodyBytes }: IncomingRequest, request: GraphRequest): Promise<GraphResponse> {
    const { deps, metrics } = this.#options;
    metrics.inFlight++;
    this.#bytesInFlight += bodyBytes;
    try {
      return await this.#options.handleRequest(deps, place.world, request);
    } finally {
      metrics.inFlight--;
      this.#bytesInFlight -= bodyBytes;
    }
  }

  #responded(incoming: IncomingRequest, body: ParsedBody, graphResponse: GraphResponse): void {
    writeResponse(incoming.connection, graphResponse, incoming.head.method === "HEAD");
    const durationMs = monotonicMs() - incoming.startedMs;
    this.#options.metrics.record(graphResponse.operation, graphResponse.status, durationMs);
    record(incoming, body, graphResponse, durationMs);
  }

  get #isFull(): boolean {
    const { metrics, limits } = this.#options;
    return this.isStopping || metrics.inFlight >= limits.requestsMax || this.#bytesInFlight >= limits.requestBytesMax;
  }

  /** Costs a small part of what the request would: its body is not looked at, and its connection rests. */
  #turnAway(incoming: IncomingRequest): void {
    const { deps, metrics } = this.#options;
    const { head, connection, place, startedMs } = incoming;
    metrics.turnedAway++;
    const seconds = this.#resting.seconds;
    const graphResponse = turnedAway(deps, place.world, this.#requestOf(incoming, NO_BODY), seconds);
    this.#resting.write(connection, graphResponse, head.method === "HEAD", seconds);
    const durationMs = monotonicMs() - startedMs;
    metrics.record(graphResponse.operation, graphResponse.status, durationMs);
    record(incoming, NO_BODY, graphResponse, durationMs);
  }

  #incomingRequestOf(head: RequestHead, connection: Connection): IncomingRequest {
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

  #requestOf({ head, target, query, place, baseUrl }: IncomingRequest, body: ParsedBody): GraphRequest {
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

  /** Where something is wrong with it the rest stays unread, and the connection ends with the response. */
  #takeBody(incoming: IncomingRequest): TakenBody | Promise<TakenBody> {
    const { head, connection, place } = incoming;
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
    if (!(received instanceof Promise)) return this.#bodyOf(received, raw, incoming);
    this.#bytesArriving += bytes;
    return received.then((later) => {
      this.#bytesArriving -= bytes;
      return this.#bodyOf(later, raw, incoming);
    });
  }

  #bodyOf(received: Received, raw: RawHeaders, incoming: IncomingRequest): TakenBody {
    if (received === "gone") return received;
    if ("defect" in received) return defectiveBody(received.defect);
    if (this.#isFull) return "unread";
    incoming.bodyBytes = received.bytes.length;
    return parseBody(received.bytes, findHeader(raw, "content-type"), this.#options.limits.parametersMax);
  }

  #respondToPreflight({ connection, place, startedMs }: IncomingRequest): void {
    const graphResponse = preflight(this.#options.deps, place.world, place.surface, PREFLIGHT_HEADERS);
    writeResponse(connection, graphResponse, false);
    this.#options.metrics.record("preflight", graphResponse.status, monotonicMs() - startedMs);
  }

  /** A mistake of this program, outside of the pipeline. */
  #fail(error: unknown, { head, connection, place, startedMs }: IncomingRequest): void {
    const { deps, metrics } = this.#options;
    const graphResponse = refusal(deps, place.world, place.surface, internalError(), "wrapped");
    deps.onUnexpected(error, graphResponse.traceId);
    metrics.record(graphResponse.operation, graphResponse.status, monotonicMs() - startedMs);
    if (connection.hasBegunResponse) connection.cut();
    else writeResponse(connection, graphResponse, head.method === "HEAD");
  }
}

async function respondTo(route: RouteHandler, { head, connection, target, place, baseUrl }: IncomingRequest): Promise<void> {
  const graphResponse = await route(requestOf(head.method, { ...place, baseUrl }, target.queryText, head.raw), { ...place, baseUrl });
  await writeWebResponse(connection, graphResponse, head.method === "HEAD");
}

function defectOf(bytes: number, limits: HttpLimits, query: ParsedPairs, body: ParsedBody): GraphError | undefined {
  if (bytes > limits.headerBytesMax) return headersTooLarge(limits.headerBytesMax);
  return query.defect ?? body.defect;
}

function record({ head, target, place }: IncomingRequest, body: ParsedBody, graphResponse: GraphResponse, durationMs: number): void {
  const { world, surface, path } = place;
  world.requests.add({
    trace_id: graphResponse.traceId,
    operation: graphResponse.operation,
    method: head.method,
    surface,
    path,
    query: target.queryText,
    status: graphResponse.status,
    time: world.clock.nowMs(),
    duration_ms: durationMs,
    app: graphResponse.app,
    request_body: body.text,
    response_body: graphResponse.body,
  });
}
