/**
 * Responses to requests that do not reach the pipeline: preflights, requests that a full server refuses, and bytes that are not HTTP. The responses
 * of this module have the same form as the responses of the pipeline.
 */
import type { ErrorForm } from "#graph/contract/operation";
import type { RequestDeps } from "#graph/pipeline/handle-request";
import type { GraphRequest, GraphResponse, SurfaceName } from "#graph/pipeline/request";
import { formByShape, readAddress } from "#graph/pipeline/route";
import { refusalStory } from "#graph/pipeline/story/story";
import { renderError } from "#graph/response/error-forms";
import { NO_APP_USAGE, NO_CASE_USAGE } from "#graph/response/usage";
import { fixedVersions, newestVersion } from "#graph/versions/resolve";
import type { World } from "#graph/worlds/world";
import { unixSeconds } from "#kernel/clock";
import { bodyTooLarge, GraphError, headersTooLarge, internalError, malformedRequest, overloaded, requestTooSlow } from "#kernel/errors";
import { formatVersion, type Version } from "#kernel/versions";
import type { ProtocolProblem } from "./http1/request-head.ts";
import type { HttpLimits } from "./limits.ts";

function unreached(
  deps: RequestDeps,
  world: World,
  surface: SurfaceName,
  status: number,
  extra: Readonly<Record<string, string>>,
  asked?: Version,
): GraphResponse {
  const traceId = deps.traceId();
  const headers = {
    "x-pf-trace-id": traceId,
    // D-83, D-22: every response has the header with the version.
    "pf-api-version": fixedVersions[surface] ?? formatVersion(asked ?? newestVersion(world.calendar, unixSeconds(world.clock))),
    "x-app-usage": NO_APP_USAGE,
    "x-business-use-case-usage": NO_CASE_USAGE,
    ...extra,
  };
  return { status, headers, body: "", operation: "unknown", traceId, app: undefined };
}

/**
 * Returns the response to a request that is refused before the pipeline. `asked` is the version in the request's address, if the server knows this
 * version.
 */
export function refusal(deps: RequestDeps, world: World, surface: SurfaceName, error: GraphError, form: ErrorForm, asked?: Version): GraphResponse {
  const bare = unreached(deps, world, surface, 0, { "content-type": "application/json; charset=UTF-8" }, asked);
  const { status, headers, body } = renderError(error, form, world.profile, bare.traceId);
  return { ...bare, status, headers: { ...bare.headers, ...headers }, body: JSON.stringify(body), story: refusalStory(error) };
}

/**
 * Returns the response for an error outside of the pipeline. A `GraphError` is shown to the caller; any other error is a mistake in the server's
 * code.
 */
export function failure(deps: RequestDeps, world: World, surface: SurfaceName, error: unknown): GraphResponse {
  const isKnown = error instanceof GraphError;
  const response = refusal(deps, world, surface, isKnown ? error : internalError(), "wrapped");
  if (!isKnown) deps.onUnexpected(error, response.traceId);
  return response;
}

export const preflight = (deps: RequestDeps, world: World, surface: SurfaceName, headers: Readonly<Record<string, string>>): GraphResponse =>
  unreached(deps, world, surface, 204, headers);

/** Returns the response to a request that is turned away because the server is full (D-97). */
export const turnedAway = (deps: RequestDeps, world: World, request: GraphRequest, seconds: number): GraphResponse =>
  refusalByShape(deps, world, request, overloaded(seconds));

/**
 * Returns the response to a request that is refused because of its method and path alone. The response has the error form (D-20) and the headers that
 * every request with this method and path gets. The server does not read the rest of the refused request.
 */
export function refusalByShape(deps: RequestDeps, world: World, request: GraphRequest, error: GraphError): GraphResponse {
  const { registry } = deps;
  const address = readAddress({ request, registry, world });
  const response = refusal(deps, world, request.surface, error, formByShape(request, { address }, registry), address.version);
  return { ...response, headers: { ...response.headers, ...registry.headersOf(request.method, address.edge) } };
}

/**
 * The number of seconds after which a refused client may send its request again. The number is small, because within seconds the bodies that are
 * arriving are complete or refused.
 */
const RETRY_AFTER_SECONDS = 1;

export function graphErrorOf(problem: ProtocolProblem, limits: HttpLimits): GraphError {
  switch (problem.kind) {
    case "malformed-head":
      return malformedRequest(`The request is not valid HTTP: ${problem.detail}`);
    case "head-too-large":
      return headersTooLarge(limits.headerBytesMax);
    case "head-too-slow":
    case "body-too-slow":
      return requestTooSlow(problem.msMax);
    case "malformed-chunks":
      return malformedRequest("The chunked encoding of the request body is not valid");
    case "body-too-large":
      return bodyTooLarge(problem.bytesMax);
    case "no-capacity":
      return overloaded(RETRY_AFTER_SECONDS);
  }
}

/** D-04: web pages of every origin may send requests. The graph reads no cookies, so it would protect nobody to refuse the web pages of an origin. */

export const CORS_HEADERS = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers":
    "x-pf-trace-id, pf-api-version, x-app-usage, x-business-use-case-usage, x-ad-api-version-warning, deprecation, link, etag, retry-after, www-authenticate",
} as const;

/** The headers that clients of the interface send. */
const USUAL_HEADERS = ["Authorization", "Content-Type", "X-API-Version", "If-None-Match", "X-Forwarded-For"];
/** The maximum number of header names that a response to a preflight repeats. Client libraries send additional headers. */
const NAMED_HEADERS_MAX = 32;
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,64}$/;

/**
 * Returns the headers of the response to a preflight. `named` is the value of `Access-Control-Request-Headers`. A page may send any header, because
 * only the headers of the interface identify a caller.
 */
export function preflightHeaders(named = ""): Readonly<Record<string, string>> {
  const names = named.split(",", NAMED_HEADERS_MAX + 1).map((name) => name.trim());
  const isRight = names.length <= NAMED_HEADERS_MAX && names.every((name) => HEADER_NAME.test(name));
  const further = isRight ? names.filter((name) => !USUAL_HEADERS.some((usual) => usual.toLowerCase() === name.toLowerCase())) : [];
  return {
    "access-control-allow-methods": "GET, POST, DELETE, HEAD, OPTIONS",
    "access-control-allow-headers": [...USUAL_HEADERS, ...further].join(", "),
    // Browsers may cache the response to a preflight for a day, and no browser caches a preflight longer. The server always sends the same response
    // to equal preflights.
    "access-control-max-age": "86400",
  };
}
