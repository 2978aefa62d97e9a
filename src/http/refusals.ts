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
import type { GraphError } from "#kernel/errors";
import { formatVersion } from "#kernel/versions";

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

/** D-20: the form for a call that is not looked at any further than this. */
export const formOf = (stairs: Stairs, request: GraphRequest): ErrorForm => formByShape(request, segmentsOf(request.path).at(-1), stairs.registry);
