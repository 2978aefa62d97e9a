/** Takes requests from a listener to the pipeline, and its responses back. */
import type { handleRequest, RequestDeps } from "#graph/pipeline/handle-request";
import type { GraphRequest, GraphResponse } from "#graph/pipeline/request";
import { shownQuery } from "#graph/worlds/request-log";
import { bodyTooLarge, foreignPage, type GraphError, headersTooLarge, internalError, malformedRequest, overloaded } from "#kernel/errors";
import type { PageGuard } from "#kernel/page-guard";
import { monotonicMs } from "#system";
import type { RequestMetrics } from "#telemetry/request-metrics";
import { defectiveBody, NO_BODY, type ParsedBody, parseBody } from "./body/body.ts";
import { type ParsedPairs, parsePairs } from "./body/pairs.ts";
import { PREFLIGHT_HEADERS } from "./cors.ts";
import { sendDamaged } from "./damage.ts";
import { findHeader } from "./http1/headers.ts";
import type { RequestHead } from "./http1/request-head.ts";
import type { HttpLimits } from "./limits.ts";
import type { Exchange, ReceivedBody } from "./listeners/listener.ts";
import type { Origins } from "./origin.ts";
import type { Place, Places } from "./places.ts";
import { graphErrorOf } from "./protocol-errors.ts";
import { preflight, Resting, refusal, refusalByShape, turnedAway } from "./refusals.ts";
import { type RouteHandler, type RouteTable, streamWebResponse, webRequest } from "./routes/extra-routes.ts";

export interface RequestDispatcherOptions {
  readonly deps: RequestDeps;
  readonly handleRequest: typeof handleRequest;
  readonly places: Places;
  readonly origins: Origins;
  readonly routes: RouteTable;
  readonly limits: HttpLimits;
  readonly metrics: RequestMetrics;
  /** Undefined: every web page may send requests. */
  readonly pages: PageGuard | undefined;
}

/** What is worked out once for a head. */
interface HeadFacts {
  readonly query: ParsedPairs;
  /** For the request log. */
  readonly shownQuery: string;
  /** Why the web page that sent the request may not (D-240). */
  readonly pageRefusal: string | undefined;
}

/** A request whose head is read and whose place is known. */
interface IncomingRequest {
  readonly head: RequestHead;
  readonly facts: HeadFacts;
  readonly exchange: Exchange;
  readonly place: Place;
  readonly baseUrl: string;
  readonly startedMs: number;
  /** 0 until the body is received. */
  bodyBytes: number;
}

/** `unparsed`: it was received, but the request is turned away. */
type TakenBody = ParsedBody | "gone" | "unparsed";

export class RequestDispatcher {
  readonly #options: RequestDispatcherOptions;
  /** Set when the server stops: no new requests. */
  isStopping = false;
  /** Bodies of the requests that are in the pipeline. */
  #bytesInFlight = 0;
  /** What the bodies that are still arriving may come to. */
  #bytesArriving = 0;
  readonly #resting = new Resting();
  /** Many requests of a connection have the same head, and it is one object then. */
  readonly #facts = new WeakMap<RequestHead, HeadFacts>();

  constructor(options: RequestDispatcherOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async dispatch(head: RequestHead, exchange: Exchange): Promise<void> {
    const incoming = this.#incomingRequestOf(head, exchange);
    try {
      const route = this.#options.routes.find(head.method, incoming.place);
      const { pageRefusal } = incoming.facts;
      if (route !== undefined) await respondTo(route, incoming);
      else if (pageRefusal !== undefined) this.#refusePage(incoming, pageRefusal);
      else if (head.method === "OPTIONS") this.#respondToPreflight(incoming);
      else {
        const taken = head.framing === 0 ? NO_BODY : this.#takeBody(incoming);
        const body = taken instanceof Promise ? await taken : taken;
        if (body === "unparsed" || (body !== "gone" && this.#isFull)) this.#turnAway(incoming);
        else if (body !== "gone") {
          const sending = this.#respond(incoming, body, await this.#handleRequest(incoming, this.#requestOf(incoming, body)));
          if (sending !== undefined) await sending;
        }
      }
    } catch (error) {
      this.#fail(error, incoming);
    }
  }

  #incomingRequestOf(head: RequestHead, exchange: Exchange): IncomingRequest {
    const startedMs = monotonicMs();
    const origin = this.#options.origins.of(head.headers, head.host, exchange);
    const place = this.#options.places.locate(origin.host, head.target.path);
    const baseUrl = this.#options.origins.baseUrlOf(origin, place);
    return { head, facts: this.#factsOf(head, origin.host), exchange, place, baseUrl, startedMs, bodyBytes: 0 };
  }

  #factsOf(head: RequestHead, host: string): HeadFacts {
    let facts = this.#facts.get(head);
    if (facts === undefined) {
      const { method, headers, target } = head;
      const { limits, pages } = this.#options;
      facts = {
        query: parsePairs(target.queryText, "The query", limits.parametersMax),
        shownQuery: shownQuery(target.queryText),
        pageRefusal: pages?.refusalOf({ method, host, header: (name) => findHeader(headers, name) }),
      };
      this.#facts.set(head, facts);
    }
    return facts;
  }

  /** Where the body is refused the rest of it stays unread, and the connection ends with the response. */
  #takeBody(incoming: IncomingRequest): TakenBody | Promise<TakenBody> {
    const { head, exchange, place } = incoming;
    const { limits } = this.#options;
    const { headers, framing } = head;
    const bytesMax = limits.bodyBytesMaxFor?.(place.surface, place.path) ?? limits.bodyBytesMax;
    if (framing !== "chunked" && framing > bytesMax) return defectiveBody(bodyTooLarge(bytesMax));
    const encoding = findHeader(headers, "content-encoding")?.toLowerCase();
    if (encoding !== undefined && encoding !== "identity" && encoding !== "")
      return defectiveBody(malformedRequest(`The Content-Encoding ${encoding} is not supported; send the body as it is`));
    const received = exchange.receiveBody(bytesMax);
    if (received !== undefined) return this.#parsed(received, incoming);
    const bytes = framing === "chunked" ? bytesMax : framing;
    if (this.#bytesArriving + bytes > limits.arrivingBytesMax) return defectiveBody(overloaded(1));
    this.#bytesArriving += bytes;
    return exchange.awaitBody(limits.bodyMsMax).then((later) => {
      this.#bytesArriving -= bytes;
      return this.#parsed(later, incoming);
    });
  }

  #parsed(received: ReceivedBody, incoming: IncomingRequest): TakenBody {
    const { limits } = this.#options;
    if (received === "gone") return received;
    if ("problem" in received) return defectiveBody(graphErrorOf(received.problem, limits));
    if (this.#isFull) return "unparsed";
    incoming.bodyBytes = received.bytes.length;
    return parseBody(received.bytes, findHeader(incoming.head.headers, "content-type"), limits.parametersMax);
  }

  #requestOf({ head, facts, place, baseUrl }: IncomingRequest, body: ParsedBody): GraphRequest {
    const { method, target, headers } = head;
    const { query } = facts;
    return {
      surface: place.surface,
      method,
      path: place.path,
      queryText: target.queryText,
      query: query.parameters,
      body: body.parameters,
      files: body.files,
      header: (name) => findHeader(headers, name),
      baseUrl,
      defect: defectOf(head, this.#options.limits, query, body),
      batchDepth: 0,
    };
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

  #respond(incoming: IncomingRequest, body: ParsedBody, response: GraphResponse): void | Promise<void> {
    const { exchange } = incoming;
    const sending = response.damage === undefined ? undefined : sendDamaged(exchange, response, response.damage);
    if (sending === undefined) {
      exchange.send(response);
      exchange.finish();
    }
    this.#record(incoming, body, response);
    return sending;
  }

  get #isFull(): boolean {
    const { metrics, limits } = this.#options;
    return this.isStopping || metrics.inFlight >= limits.requestsMax || this.#bytesInFlight >= limits.requestBytesMax;
  }

  /** Costs a small part of what the request would: its body is not parsed, and its connection rests. */
  #turnAway(incoming: IncomingRequest): void {
    const { deps, metrics } = this.#options;
    metrics.turnedAway++;
    const seconds = this.#resting.seconds;
    const response = turnedAway(deps, incoming.place.world, this.#requestOf(incoming, NO_BODY), seconds);
    this.#resting.respond(incoming.exchange, response, seconds);
    this.#record(incoming, NO_BODY, response);
  }

  /** Its body stays unread. */
  #refusePage(incoming: IncomingRequest, problem: string): void {
    const request = this.#requestOf(incoming, NO_BODY);
    this.#respond(incoming, NO_BODY, refusalByShape(this.#options.deps, incoming.place.world, request, foreignPage(problem)));
  }

  #respondToPreflight({ exchange, place, startedMs }: IncomingRequest): void {
    const response = preflight(this.#options.deps, place.world, place.surface, PREFLIGHT_HEADERS);
    exchange.send(response);
    exchange.finish();
    this.#options.metrics.record("preflight", response.status, monotonicMs() - startedMs);
  }

  /** A mistake of this program, outside of the pipeline. */
  #fail(error: unknown, { exchange, place, startedMs }: IncomingRequest): void {
    const { deps, metrics } = this.#options;
    const response = refusal(deps, place.world, place.surface, internalError(), "wrapped");
    deps.onUnexpected(error, response.traceId);
    metrics.record(response.operation, response.status, monotonicMs() - startedMs);
    if (exchange.hasBegunResponse) {
      exchange.abort();
      return;
    }
    exchange.send(response);
    exchange.finish();
  }

  #record({ head, facts, place, startedMs }: IncomingRequest, body: ParsedBody, response: GraphResponse): void {
    const durationMs = monotonicMs() - startedMs;
    this.#options.metrics.record(response.operation, response.status, durationMs);
    const { world, surface, path } = place;
    const entry = {
      trace_id: response.traceId,
      operation: response.operation,
      method: head.method,
      surface,
      path,
      query: head.target.queryText,
      status: response.status,
      time: world.clock.nowMs(),
      duration_ms: durationMs,
      app: response.app,
      request_body: body.text,
      response_body: response.body,
    };
    world.requests.add(entry, facts.shownQuery);
  }
}

async function respondTo(route: RouteHandler, { head, exchange, place, baseUrl }: IncomingRequest): Promise<void> {
  const routePlace = { ...place, baseUrl };
  await streamWebResponse(exchange, await route(webRequest(head, routePlace), routePlace));
  exchange.finish();
}

function defectOf(head: RequestHead, limits: HttpLimits, query: ParsedPairs, body: ParsedBody): GraphError | undefined {
  if (head.byteCount > limits.headerBytesMax) return headersTooLarge(limits.headerBytesMax);
  return query.defect ?? body.defect;
}
