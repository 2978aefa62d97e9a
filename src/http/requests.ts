/** Passes requests from a listener to the pipeline, and sends the pipeline's responses on the connection. */

import { knownApp } from "#graph/pipeline/authenticate";
import type { handleRequest, RequestDeps } from "#graph/pipeline/handle-request";
import type { GraphRequest, GraphResponse } from "#graph/pipeline/request";
import { defectiveBody, NO_BODY, type ParsedBody, parseBody } from "#graph/request-text/body";
import type { ParsedPairs } from "#graph/request-text/pairs";
import type { RequestEntry } from "#graph/worlds/request-log";
import { bodyTooLarge, foreignPage, type GraphError, headersTooLarge } from "#kernel/errors";
import { findHeader } from "#kernel/http-text/headers";
import { isNodeId } from "#kernel/ids";
import type { PageGuard } from "#kernel/page-guard";
import { monotonicMs } from "#system";
import type { RequestMetrics } from "#telemetry/request-metrics";
import { Admissions, type Client, RunningRequest, SMALL_BODY_BYTES_MAX, type TurnAway } from "./admission/admissions.ts";
import { LongWork } from "./admission/long-work.ts";
import { TurnedAwayConnections } from "./admission/turned-away.ts";
import { type BodyEncoding, encodingOf, statedBytes, unpacked, unpackedAtOnce, unsupportedEncoding } from "./content-encoding.ts";
import { sendDamaged } from "./damage.ts";
import { appPrefixOf, type Destination, type Destinations, type WorldDirectory } from "./destinations/destinations.ts";
import type { Origin, Origins } from "./destinations/origin.ts";
import { type HeadFacts, HeadFactsCache } from "./head-facts.ts";
import type { Connection } from "./http1/connection.ts";
import type { ReceivedBody } from "./http1/incoming-body.ts";
import type { RequestHead } from "./http1/request-head.ts";
import type { TextResponse } from "./http1/response-writer.ts";
import { type HttpLimits, largestBody } from "./limits.ts";
import { failure, graphErrorOf, preflight, preflightHeaders, refusalByShape, turnedAway } from "./refusals.ts";
import { allowedMethods } from "./routes/allowed-methods.ts";
import { findPage, type PageRoute, type RouteHandler, type RouteTable } from "./routes/extra-routes.ts";
import { type Health, healthResponse } from "./routes/health.ts";
import { sendWebResponse, webRequest } from "./web.ts";

export interface RequestDispatcherOptions {
  readonly deps: RequestDeps;
  readonly handleRequest: typeof handleRequest;
  readonly destinations: Destinations;
  readonly worlds: Pick<WorldDirectory, "default">;
  readonly origins: Origins;
  readonly routes: RouteTable;
  readonly pageRoutes?: readonly PageRoute[] | undefined;
  /** The handler of health checks. If `health` is undefined, the server treats the addresses of health checks as unknown paths. */
  readonly health: Health | undefined;
  readonly limits: HttpLimits;
  readonly metrics: RequestMetrics;
  readonly onServed?: ((entry: RequestEntry, client: string) => void) | undefined;
  /** Decides which web pages may send requests; undefined if every web page may. */
  readonly pages: PageGuard | undefined;
}

/** A request whose head is read, and whose world and surface are known. */
interface IncomingRequest extends Client {
  readonly appPrefix: string;
  readonly head: RequestHead;
  readonly facts: HeadFacts;
  readonly encoding: BodyEncoding;
  readonly connection: Connection;
  /** The destination of a request is replaced if the request opens the door of a closed world. */
  destination: Destination;
  readonly baseUrl: string;
  readonly startedMs: number;
}

/** The bytes of a body, or the problem of the body, or `gone` if the client has closed the connection. */
type TakenBody = Uint8Array | GraphError | "gone";

/**
 * The number of segments of a path in which the server looks for the id of a node. A path begins with a slash, so its first segment is empty; the id
 * of a player's path is the third segment.
 */
const PATH_SEGMENTS_SHOWN = 3;

const NO_BYTES = new Uint8Array();
const TURNED_AWAY = 503;

export class RequestDispatcher {
  readonly #options: RequestDispatcherOptions;
  readonly #admissions: Admissions<IncomingRequest>;
  readonly #turnedAway = new TurnedAwayConnections();
  readonly #longWork = new LongWork();
  readonly #facts: HeadFactsCache;

  constructor(options: RequestDispatcherOptions) {
    this.#options = options;
    const { limits, metrics, pages } = options;
    this.#facts = new HeadFactsCache(pages);
    this.#admissions = new Admissions({ limits, metrics, knownApp: appOf, retryAfterSeconds: () => this.#turnedAway.seconds });
  }

  /** After a call of `stop` the server accepts no new requests. */
  stop(): void {
    this.#admissions.isStopping = true;
  }

  /** Serves a request from its head to the end of its response. Never rejects. */
  dispatch(head: RequestHead, connection: Connection): Promise<void> {
    const { health } = this.#options;
    // Health checks are answered before anything that needs the database, a world or capacity.
    const checked = health === undefined ? undefined : healthResponse(head, health);
    return checked === undefined ? this.#dispatch(head, connection) : respondToCheck(checked, connection);
  }

  async #dispatch(head: RequestHead, connection: Connection): Promise<void> {
    const startedMs = monotonicMs();
    const { origins, destinations } = this.#options;
    let incoming: IncomingRequest;
    try {
      const origin = origins.of(head.headers, head.host, connection);
      const finding = destinations.find(origin.host, head.target.path);
      incoming = this.#incoming(head, connection, origin, finding instanceof Promise ? await finding : finding, startedMs);
    } catch (error) {
      this.#failUnopened(error, connection, startedMs);
      return;
    }
    try {
      const route = this.#options.routes.find(head, incoming.destination);
      const { pageRefusal } = incoming.facts;
      const page = findPage(this.#options.pageRoutes ?? [], head, incoming.destination);
      if (route !== undefined) {
        await this.#longWork.next();
        await this.#showNodeOfPath(incoming);
        await respondTo(route, incoming, this.#options.origins.isProxy(connection));
      } else if (pageRefusal !== undefined) this.#refuse(incoming, foreignPage(pageRefusal));
      else if (page !== undefined) await this.#respondWithPage(page, incoming);
      else if (head.method === "OPTIONS") this.#respondToPreflight(incoming);
      else if (incoming.encoding === undefined) this.#refuse(incoming, unsupportedEncoding(head));
      else {
        const taken = head.framing === 0 ? NO_BYTES : this.#takeBody(incoming);
        const body = taken instanceof Promise ? await taken : taken;
        if (body !== "gone") await this.#serve(incoming, body);
      }
    } catch (error) {
      this.#fail(error, incoming);
    } finally {
      incoming.destination.leave();
    }
  }

  /** Responds with a page. The browser sends the page's form as a POST to the address of the page. */
  async #respondWithPage({ respond }: PageRoute, incoming: IncomingRequest): Promise<void> {
    const { head, connection, destination, baseUrl } = incoming;
    const taken = head.framing === 0 ? NO_BYTES : await this.#takeBody(incoming);
    if (taken === "gone") return;
    if (!(taken instanceof Uint8Array)) {
      this.#refuse(incoming, taken);
      return;
    }
    await this.#longWork.next(taken.length);
    const form = head.method === "POST" ? new URLSearchParams(new TextDecoder().decode(taken)) : undefined;
    const routeDestination = { ...destination, baseUrl, isFromProxy: this.#options.origins.isProxy(connection) };
    await sendWebResponse(connection, await respond(webRequest(head, `${baseUrl}${destination.path}`), routeDestination, form));
    connection.finish();
  }

  async #serve(incoming: IncomingRequest, taken: Exclude<TakenBody, "gone">): Promise<void> {
    const size = taken instanceof Uint8Array ? this.#sizeOf(taken, incoming) : 0;
    const admitted = this.#admissions.admit(incoming, size);
    if (!(admitted instanceof RunningRequest)) {
      this.#turnAway(incoming, admitted);
      return;
    }
    let body: ParsedBody;
    let response: GraphResponse;
    try {
      const read = taken instanceof Uint8Array && incoming.encoding === "gzip" ? this.#unpacked(taken, size, incoming) : taken;
      const bytes = read instanceof Promise ? await read : read;
      if (bytes instanceof Uint8Array && bytes.length > SMALL_BODY_BYTES_MAX) {
        await this.#longWork.next(bytes.length);
        incoming.destination.world.workBegins("read a body");
      }
      body = bytes instanceof Uint8Array ? this.#parsed(bytes, incoming) : defectiveBody(bytes);
      const { deps, handleRequest } = this.#options;
      const responding = handleRequest(deps, incoming.destination.world, this.#requestOf(incoming, body, admitted));
      admitted.countAgainstAddress();
      response = await responding;
      if (incoming.destination.door?.isOpened === true && (await this.#goIn(incoming)))
        response = await handleRequest(deps, incoming.destination.world, this.#requestOf(incoming, body, admitted));
    } finally {
      admitted.end();
    }
    if (response.damage === undefined || admitted.turnAway !== undefined) this.#respond(incoming, body, response, admitted.turnAway);
    else {
      this.#record(incoming, body, response);
      await sendDamaged(incoming.connection, response, response.damage);
    }
  }

  /**
   * Tells the world's door which node is in the path of one of the server's own routes, e.g. the video of a player. A request to one of the server's
   * own routes needs no token.
   */
  async #showNodeOfPath(incoming: IncomingRequest): Promise<void> {
    const { door, path } = incoming.destination;
    const id = door === undefined ? undefined : path.split("/", PATH_SEGMENTS_SHOWN).find(isNodeId);
    if (id === undefined) return;
    await door?.showNode(id);
    await this.#goIn(incoming);
  }

  /** Enters a closed world if the request has opened the world's door. Returns whether the request has entered another world. */
  async #goIn(incoming: IncomingRequest): Promise<boolean> {
    if (incoming.destination.door?.isOpened !== true) return false;
    const inside = await this.#options.destinations.goIn(incoming.destination);
    incoming.destination = inside ?? incoming.destination;
    return inside !== undefined;
  }

  #incoming(head: RequestHead, connection: Connection, origin: Origin, destination: Destination, startedMs: number): IncomingRequest {
    const { origins } = this.#options;
    return {
      head,
      facts: this.#facts.of(head, origin.host),
      connection,
      destination,
      baseUrl: origins.baseUrlOf(origin, destination),
      startedMs,
      address: origins.clientOf(head.headers, connection),
      encoding: encodingOf(head),
      appPrefix: appPrefixOf(destination),
    };
  }

  /** Responds to a request whose world could not be opened. */
  #failUnopened(error: unknown, connection: Connection, startedMs: number): void {
    const { deps, metrics, worlds } = this.#options;
    const response = failure(deps, worlds.default, "base", error);
    metrics.record(response.operation, response.status, monotonicMs() - startedMs);
    connection.send(response);
    connection.finish();
  }

  /**
   * Takes the body of the request from the connection. If the request body is refused, the rest of the body is not read, and the connection ends
   * after the response.
   */
  #takeBody(incoming: IncomingRequest): TakenBody | Promise<TakenBody> {
    const { head, connection } = incoming;
    const { limits } = this.#options;
    const { framing } = head;
    // Nearly all request bodies are small and have a length, so the larger limits are looked up only for other bodies.
    const bytesMax = framing !== "chunked" && framing <= limits.bodyBytesMax ? limits.bodyBytesMax : this.#bytesMaxOf(incoming);
    if (framing !== "chunked" && framing > bytesMax) return bodyTooLarge(bytesMax);
    const received = connection.receiveBody(bytesMax);
    return received === undefined ? this.#awaitBody(incoming) : this.#takenOf(received);
  }

  async #awaitBody(incoming: IncomingRequest): Promise<TakenBody> {
    const { limits, metrics } = this.#options;
    const arriving = this.#admissions.arrivingBody(incoming);
    const received = await incoming.connection.awaitBody(limits.bodyMsMax, (bytes) => arriving.resize(bytes));
    arriving.end();
    if (arriving.turnAway !== undefined) metrics.turnAway(arriving.turnAway.app, arriving.turnAway.reason);
    return this.#takenOf(received);
  }

  #takenOf(received: ReceivedBody): TakenBody {
    if (received === "gone") return received;
    return "problem" in received ? graphErrorOf(received.problem, this.#options.limits) : received.bytes;
  }

  /** Returns the unpacked size of a compressed body, as the body itself states it. */
  #sizeOf(taken: Uint8Array, incoming: IncomingRequest): number {
    if (incoming.encoding !== "gzip") return taken.length;
    return Math.max(taken.length, Math.min(statedBytes(taken), this.#bytesMaxOf(incoming)));
  }

  /** Unpacks a compressed body. A small compressed body is unpacked immediately, so that its token is checked in this turn of the event loop. */
  #unpacked(taken: Uint8Array, size: number, incoming: IncomingRequest): Uint8Array | GraphError | Promise<Uint8Array | GraphError> {
    return size > SMALL_BODY_BYTES_MAX ? unpacked(taken, this.#bytesMaxOf(incoming)) : unpackedAtOnce(taken, SMALL_BODY_BYTES_MAX);
  }

  #bytesMaxOf({ head, destination }: IncomingRequest): number {
    return largestBody(this.#options.limits, destination, findHeader(head.headers, "content-type"));
  }

  #parsed(bytes: Uint8Array, { head }: IncomingRequest): ParsedBody {
    return bytes.length === 0 ? NO_BODY : parseBody(bytes, findHeader(head.headers, "content-type"));
  }

  #requestOf(
    { head, facts, destination, baseUrl, startedMs: receivedMs }: IncomingRequest,
    body: ParsedBody,
    admission?: RunningRequest,
  ): GraphRequest {
    const { method, target, headers } = head;
    const { query } = facts;
    return {
      surface: destination.surface,
      method,
      path: destination.path,
      queryText: target.queryText,
      query: query.parameters,
      body: body.parameters,
      files: body.files,
      header: (name) => findHeader(headers, name),
      baseUrl,
      defect: defectOf(head, this.#options.limits, query, body),
      receivedMs,
      batchDepth: 0,
      admission,
      door: destination.door,
    };
  }

  #respond(incoming: IncomingRequest, body: ParsedBody, response: GraphResponse, turnAway: TurnAway | undefined): void {
    if (turnAway !== undefined) this.#options.metrics.turnAway(turnAway.app, turnAway.reason);
    if (turnAway !== undefined && response.status === TURNED_AWAY) this.#turnedAway.respond(incoming.connection, response, this.#turnedAway.seconds);
    else {
      incoming.connection.send(response);
      incoming.connection.finish();
    }
    this.#record(incoming, body, response);
  }

  /**
   * Responds that the server is full. It takes only a small fraction of the work for a request to turn the request away, because the body is not
   * parsed and the connection is held back.
   */
  #turnAway(incoming: IncomingRequest, { app, reason }: TurnAway): void {
    const { deps, metrics } = this.#options;
    metrics.turnAway(app, reason);
    const seconds = this.#turnedAway.seconds;
    const response = turnedAway(deps, incoming.destination.world, this.#requestOf(incoming, NO_BODY), seconds);
    this.#turnedAway.respond(incoming.connection, response, seconds);
    this.#record(incoming, NO_BODY, response);
  }

  /** Refuses a request because of its head alone. The server does not read the body of the refused request. */
  #refuse(incoming: IncomingRequest, error: GraphError): void {
    const request = this.#requestOf(incoming, NO_BODY);
    this.#respond(incoming, NO_BODY, refusalByShape(this.#options.deps, incoming.destination.world, request, error), undefined);
  }

  #respondToPreflight({ head, connection, destination, startedMs }: IncomingRequest): void {
    const { deps, routes } = this.#options;
    const { world, surface, path } = destination;
    const allow = allowedMethods(deps.registry, world.profile, surface, path, routes.isAt(destination));
    const response = preflight(deps, world, surface, { ...preflightHeaders(findHeader(head.headers, "access-control-request-headers")), allow });
    connection.send(response);
    connection.finish();
    this.#options.metrics.record("preflight", response.status, monotonicMs() - startedMs);
  }

  /** Responds to an error outside of the pipeline: one of the server's own routes refuses the request, or the server's code has a mistake. */
  #fail(error: unknown, { connection, destination, startedMs }: IncomingRequest): void {
    const { deps, metrics } = this.#options;
    const response = failure(deps, destination.world, destination.surface, error);
    metrics.record(response.operation, response.status, monotonicMs() - startedMs);
    if (connection.hasBegunResponse) {
      connection.abort();
      return;
    }
    connection.send(response);
    connection.finish();
  }

  #record({ head, facts, destination, startedMs, address }: IncomingRequest, body: ParsedBody, response: GraphResponse): void {
    const durationMs = monotonicMs() - startedMs;
    this.#options.metrics.record(response.operation, response.status, durationMs);
    const { world, surface, path } = destination;
    const entry: RequestEntry = {
      trace_id: response.traceId,
      operation: response.operation,
      parts: response.parts?.map(({ operation }) => operation),
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
      story: response.story,
    };
    world.requests.add(entry, facts.shownQuery);
    this.#options.onServed?.(entry, address);
  }
}

function appOf({ destination, facts, head, appPrefix }: IncomingRequest): string | undefined {
  const app = knownApp(destination.world, facts.query.parameters, (name) => findHeader(head.headers, name));
  return app === undefined ? undefined : appPrefix + app;
}

async function respondToCheck(checked: TextResponse | Promise<TextResponse>, connection: Connection): Promise<void> {
  connection.send(await checked);
  connection.finish();
}

async function respondTo(route: RouteHandler, { head, connection, destination, baseUrl }: IncomingRequest, isFromProxy: boolean): Promise<void> {
  const routeDestination = { ...destination, baseUrl, isFromProxy };
  await sendWebResponse(connection, await route(webRequest(head, `${baseUrl}${destination.path}`), routeDestination));
  connection.finish();
}

function defectOf(head: RequestHead, limits: HttpLimits, query: ParsedPairs, body: ParsedBody): GraphError | undefined {
  if (head.byteCount > limits.headerBytesMax) return headersTooLarge(limits.headerBytesMax);
  return query.defect ?? body.defect;
}
