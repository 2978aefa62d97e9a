/** Answers to calls that do not reach the stairs: preflights, too much work, what is not HTTP. They look like the others. */
import { segmentsOf } from "#graph/address";
import type { ErrorForm } from "#graph/contract";
import { renderError } from "#graph/error-forms";
import type { Stairs } from "#graph/ladder";
import { formByShape } from "#graph/matching";
import type { GraphRequest, GraphResponse, SurfaceName } from "#graph/request";
import { fixedVersions } from "#graph/surface-versions";
import { newestVersion } from "#graph/versions";
import type { World } from "#graph/world";
import { type GraphError, overloaded } from "#kernel/errors";
import { formatVersion } from "#kernel/versions";
import { headText } from "./answers.ts";
import type { Connection } from "./connection.ts";

function unreached(
  stairs: Stairs,
  world: World,
  surface: SurfaceName,
  status: number,
  extra: Readonly<Record<string, string>>,
  body: string,
): GraphResponse {
  const traceId = stairs.traceId();
  const headers = {
    "x-pf-trace-id": traceId,
    // D-83, D-22: on every answer.
    "pf-api-version": fixedVersions[surface] ?? formatVersion(newestVersion(world.calendar)),
    "x-app-usage": '{"call_count":0}',
    "x-business-use-case-usage": '{"call_count":0}',
    ...extra,
  };
  return { status, headers, body, operation: "unknown", traceId, app: undefined };
}

export function refusal(stairs: Stairs, world: World, surface: SurfaceName, error: GraphError, form: ErrorForm): GraphResponse {
  const bare = unreached(stairs, world, surface, 0, { "content-type": "application/json; charset=UTF-8" }, "");
  const { status, headers, body } = renderError(error, form, world.profile, bare.traceId);
  return { ...bare, status, headers: { ...bare.headers, ...headers }, body: JSON.stringify(body) };
}

export const preflight = (stairs: Stairs, world: World, surface: SurfaceName, headers: Readonly<Record<string, string>>): GraphResponse =>
  unreached(stairs, world, surface, 204, headers, "");

/** D-97: in the form (D-20), and with the headers, of every call of its shape; it is not looked at any further than that. */
export function turnedAway(stairs: Stairs, world: World, request: GraphRequest, seconds: number): GraphResponse {
  const edge = segmentsOf(request.path).at(-1);
  const answer = refusal(stairs, world, request.surface, overloaded(seconds), formByShape(request, edge, stairs.registry));
  return { ...answer, headers: { ...answer.headers, ...stairs.registry.headersOf(request.method, edge) } };
}

/** Turning a call away takes some 30 µs, most of them the system's: so many in a second take 3 % of a core. */
const COMING_BACK_PER_SECOND = 1_000;
const REST_SECONDS_MAX = 10;

/**
 * D-97: connections whose last call was turned away. Nothing is read from them before the time that the answer said is over: who comes
 * back sooner costs nothing until then, and the work that is taken gets done, however many there are.
 */
export class Resting {
  #count = 0;

  /** How long the next one rests. */
  get seconds(): number {
    return Math.min(REST_SECONDS_MAX, 1 + Math.floor(this.#count / COMING_BACK_PER_SECOND));
  }

  /** The answer is written at once. */
  write(connection: Connection, { status, headers, body }: GraphResponse, isHead: boolean, seconds: number): void {
    const { isLast, isHttp10 } = connection;
    const size = Buffer.byteLength(body);
    const head = `${headText(status, headers, isLast, isHttp10)}content-length: ${size}\r\n\r\n`;
    connection.writeText(isHead ? head : head + body, isHead ? head.length : head.length + size);
    if (isLast) {
      connection.answered(true);
      return;
    }
    this.#count++;
    // timer: nothing else happens on the connection meanwhile.
    setTimeout(() => {
      this.#count--;
      connection.answered(connection.isLast);
    }, seconds * 1_000);
  }
}
