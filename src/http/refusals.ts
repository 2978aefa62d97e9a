/** Responses to requests that do not reach the pipeline: preflights, too much work, bytes that are not HTTP. They look like all others. */

import type { ErrorForm } from "#graph/contract/operation";
import { type Address, segmentsOf } from "#graph/pipeline/address";
import type { RequestDeps } from "#graph/pipeline/handle-request";
import type { GraphRequest, GraphResponse, SurfaceName } from "#graph/pipeline/request";
import { formByShape } from "#graph/pipeline/route";
import { renderError } from "#graph/response/error-forms";
import { newestVersion } from "#graph/versions/resolve";
import { fixedVersions } from "#graph/versions/surfaces";
import type { World } from "#graph/worlds/world";
import { type GraphError, overloaded } from "#kernel/errors";
import { isNodeId } from "#kernel/ids";
import { formatVersion } from "#kernel/versions";
import { monotonicMs } from "#system";
import type { Exchange } from "./listeners/listener.ts";

function unreached(
  deps: RequestDeps,
  world: World,
  surface: SurfaceName,
  status: number,
  extra: Readonly<Record<string, string>>,
  body: string,
): GraphResponse {
  const traceId = deps.traceId();
  const headers = {
    "x-pf-trace-id": traceId,
    // D-83, D-22: on every response.
    "pf-api-version": fixedVersions[surface] ?? formatVersion(newestVersion(world.calendar)),
    "x-app-usage": '{"call_count":0}',
    "x-business-use-case-usage": '{"call_count":0}',
    ...extra,
  };
  return { status, headers, body, operation: "unknown", traceId, app: undefined };
}

export function refusal(deps: RequestDeps, world: World, surface: SurfaceName, error: GraphError, form: ErrorForm): GraphResponse {
  const bare = unreached(deps, world, surface, 0, { "content-type": "application/json; charset=UTF-8" }, "");
  const { status, headers, body } = renderError(error, form, world.profile, bare.traceId);
  return { ...bare, status, headers: { ...bare.headers, ...headers }, body: JSON.stringify(body) };
}

export const preflight = (deps: RequestDeps, world: World, surface: SurfaceName, headers: Readonly<Record<string, string>>): GraphResponse =>
  unreached(deps, world, surface, 204, headers, "");

/** D-97. */
export const turnedAway = (deps: RequestDeps, world: World, request: GraphRequest, seconds: number): GraphResponse =>
  refusalByShape(deps, world, request, overloaded(seconds));

/** In the form (D-20), and with the headers, of every request of its shape; it is not looked at any further than that. */
export function refusalByShape(deps: RequestDeps, world: World, request: GraphRequest, error: GraphError): GraphResponse {
  const last = segmentsOf(request.path).at(-1) ?? "";
  const id = isNodeId(last) || last === "me" ? last : undefined;
  const edge = id === undefined ? last : undefined;
  const address: Address = { version: undefined, id, edge, prefix: undefined };
  const response = refusal(deps, world, request.surface, error, formByShape(request, { address }, deps.registry));
  return { ...response, headers: { ...response.headers, ...deps.registry.headersOf(request.method, edge) } };
}

/** Turning a request away takes some 50 µs where thousands of connections wait, most of them the system's: so many in a second take 2.5 % of a core. */
const COMING_BACK_PER_SECOND = 500;
const REST_SECONDS_MAX = 10;
const LOOK_EVERY_MS = 100;
/** Connections that go on before their time, to see whether there is room again: twice as many each time, as long as there is. */
const SOONER_MIN = 50;

interface Rest {
  readonly exchange: Exchange;
  readonly untilMs: number;
}

/**
 * D-97: connections whose last request was turned away. Nothing is read from them before the time that the response named is over, or
 * there is room again: a client that comes back sooner costs nothing until then, and the work that was taken gets done, however many
 * clients there are.
 */
export class Resting {
  #rests: Rest[] = [];
  #timer: ReturnType<typeof setInterval> | undefined;
  #isFull = false;
  #sooner = 0;

  /** How long the next one rests at most. */
  get seconds(): number {
    return Math.min(REST_SECONDS_MAX, 1 + Math.floor(this.#rests.length / COMING_BACK_PER_SECOND));
  }

  /** The response leaves at once; the exchange finishes later. */
  respond(exchange: Exchange, response: GraphResponse, seconds: number): void {
    const { isLast } = exchange;
    exchange.send(response);
    this.#isFull = true;
    if (isLast) {
      exchange.finish();
      return;
    }
    this.#rests.push({ exchange, untilMs: monotonicMs() + seconds * 1_000 });
    // timer: nothing else happens on the connections meanwhile.
    this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY_MS);
  }

  #look(): void {
    this.#sooner = this.#isFull ? 0 : Math.max(SOONER_MIN, 2 * this.#sooner);
    this.#isFull = false;
    const nowMs = monotonicMs();
    const [kept, rested]: [Rest[], Exchange[]] = [[], []];
    for (const rest of this.#rests) {
      const { exchange, untilMs } = rest;
      if (exchange.isGone) continue;
      if (untilMs <= nowMs || exchange.isLast || rested.length < this.#sooner) rested.push(exchange);
      else kept.push(rest);
    }
    this.#rests = kept;
    if (kept.length === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    // The next request may have come already, and may be turned away as well.
    for (const exchange of rested) exchange.finish();
  }
}
