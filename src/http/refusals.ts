/** Answers to calls that do not reach the stairs: preflights, too much work, what is not HTTP. They look like the others. */
import { renderError } from "#graph/error-forms";
import type { Stairs } from "#graph/ladder";
import { formByShape } from "#graph/matching";
import type { GraphResponse, SurfaceName } from "#graph/request";
import { fixedVersions } from "#graph/surface-versions";
import { newestVersion } from "#graph/versions";
import type { World } from "#graph/world";
import type { ErrorForm } from "#graph/contract";
import type { GraphError } from "#kernel/errors";
import { formatVersion } from "#kernel/versions";
import { parsePairs } from "./pairs.ts";

function unreached(stairs: Stairs, world: World, surface: SurfaceName, status: number, extra: Readonly<Record<string, string>>, body: string): GraphResponse {
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

/** D-20: the form for a call that was not looked at any further than this. */
export function formOf(stairs: Stairs, path: string, queryText: string, countMax: number): ErrorForm {
  const edge = path.slice(path.lastIndexOf("/") + 1);
  return formByShape({ query: parsePairs(queryText, "The query", countMax).parameters } as Parameters<typeof formByShape>[0], edge, stairs.registry);
}
