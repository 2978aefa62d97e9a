/**
 * The step `render`: makes the response's status, headers and JSON text. The headers of the response depend on the last step that the request has
 * reached.
 */
import { hash } from "node:crypto";
import { unixSeconds } from "#kernel/clock";
import type { GraphError } from "#kernel/errors";
import { formatVersion } from "#kernel/versions";
import type { ErrorForm } from "../contract/operation.ts";
import { renderError as renderBody } from "../response/error-forms.ts";
import { appUsage, caseUsage, NO_CASE_USAGE } from "../response/usage.ts";
import { fixedVersions, newestVersion, type ServedVersion, upgradeWarning } from "../versions/resolve.ts";
import type { GraphRequest, GraphResponse } from "./request.ts";
import { formByShape } from "./route.ts";
import type { Incoming, Reached } from "./stages.ts";

/** Makes a response with the status 200, or 304 if the caller of a read already has this response. */
export function renderResponse(incoming: Incoming, reached: Reached, response: unknown): GraphResponse {
  const { request } = incoming;
  const body = JSON.stringify(response);
  const headers = headersOf(incoming, reached);
  if (request.method !== "POST" && request.method !== "DELETE") {
    const tag = `"${hash("sha1", body, "base64url")}"`;
    headers.etag = tag;
    if (isKnown(request, tag)) return graphResponse(incoming, reached, 304, headers, "");
  }
  return graphResponse(incoming, reached, 200, headers, body);
}

export function renderError(incoming: Incoming, reached: Reached, error: GraphError): GraphResponse {
  const { status, headers, body } = renderBody(error, errorFormOf(incoming, reached), incoming.world.profile, incoming.traceId);
  return graphResponse(incoming, reached, status, Object.assign(headersOf(incoming, reached), headers), JSON.stringify(body));
}

/** Makes the response to a request with `ids=` from the response to one of its reads. */
export const renderPart = ({ traceId }: Incoming, { status, headers, body }: GraphResponse): GraphResponse => ({
  ...{ status, headers, body, operation: "ids", traceId, app: undefined },
});

/**
 * D-20: the form of an error. The operation decides the form of an error as soon as the operation is found. Before the operation is found, and if the
 * caller may not know that the node exists, the method and edge decide the form of the error.
 */
const errorFormOf = ({ request, registry }: Incoming, reached: Reached): ErrorForm =>
  reached.endpoint === undefined ? formByShape(request, reached, registry) : reached.endpoint.access.errorForm;

/** VER-6f: the upgrades of the request itself and of the reads inside its response. */
export const upgradesOf = ({ upgrades }: Incoming, { served }: Pick<Reached, "served">): readonly ServedVersion[] =>
  served?.upgradedFrom === undefined ? upgrades : [served, ...upgrades];

export const UPGRADE_WARNING = "x-ad-api-version-warning";
export const SERVED_VERSION = "pf-api-version";

function headersOf(incoming: Incoming, reached: Reached): Record<string, string> {
  const { request, world, registry, traceId } = incoming;
  const { address, method, app, endpoint, subject, served } = reached;
  const headers: Record<string, string> = {
    "content-type": "application/json; charset=UTF-8",
    "x-pf-trace-id": traceId,
    // D-83: the version header names the version that served the response. If the request failed before its version was chosen, the header has the
    // version of the path, or without one the newest version.
    [SERVED_VERSION]:
      fixedVersions[request.surface] ?? formatVersion(served?.version ?? address?.version ?? newestVersion(world.calendar, unixSeconds(world.clock))),
    "x-app-usage": appUsage(app === undefined ? 0 : world.rateLimits.appUsage(app.id)),
    "x-business-use-case-usage":
      subject === undefined
        ? NO_CASE_USAGE
        : caseUsage(subject.owner, world.rateLimits.pageUsage(subject.owner), world.rateLimits.pageWaitMinutes(subject.owner)),
  };
  const ofShape = method === undefined ? undefined : registry.headersOf(method, address?.edge);
  if (ofShape !== undefined) Object.assign(headers, ofShape);
  if (endpoint?.access.headers !== undefined) Object.assign(headers, endpoint.access.headers);
  const [upgrade] = upgradesOf(incoming, reached);
  if (upgrade !== undefined) headers[UPGRADE_WARNING] = upgradeWarning(upgrade);
  return headers;
}

/** D-34: whether the caller already has the response with this entity tag. */
function isKnown(request: GraphRequest, tag: string): boolean {
  const known = request.header("if-none-match");
  return known !== undefined && (known.trim() === "*" || known.split(",").some((one) => one.trim().replace(/^W\//, "") === tag));
}

function graphResponse({ traceId }: Incoming, reached: Reached, status: number, headers: Record<string, string>, body: string): GraphResponse {
  const operation = (reached.endpoint ?? reached.concealed)?.access.operation ?? reached.many ?? "unknown";
  return { status, headers, body, operation, traceId, app: reached.app?.id, story: undefined };
}
