/**
 * The stairs: every call climbs them, on plain data, so that a batch re-enters here and a test needs no socket.
 *
 *  1 surface (http)   2 address   3 id → node   4 endpoint   5 version   6 authenticate   7 parse   8 authorize
 *  9 prepare   10 handle, in one transaction   11 changes back and fields   12 render
 *
 * **Invariant:** a node that the caller may not see and one that does not exist answer alike, byte for byte but the trace id.
 */
import { authorize, seesNode } from "#auth/authorize";
import { type Credential, checkTokens, missingCredential, presentedTokens, schemeFor } from "#auth/credentials";
import type { NodeRef } from "#auth/node-ref";
import { policyOf } from "#auth/policies";
import { clientsScheme, type Scheme } from "#auth/schemes";
import { principalOf } from "#auth/token";
import { unixSeconds } from "#kernel/clock";
import { GraphError, internalError, invalidParameter, tokenInvalid, tokenMissing, unknownPath } from "#kernel/errors";
import { formatVersion } from "#kernel/versions";
import type { Address } from "./address.ts";
import type { Caller } from "./caller.ts";
import type { ErrorForm, ReadCall } from "./contract.ts";
import { renderError } from "./error-forms.ts";
import { execute } from "./execute.ts";
import { addressOf, effectiveMethod, formByShape, match, notFound } from "./matching.ts";
import { isMigrated } from "./migrations-switch.ts";
import type { Endpoint, Registry } from "./registry.ts";
import type { GraphRequest, GraphResponse } from "./request.ts";
import { fixedVersions } from "./surface-versions.ts";
import { newestVersion, servedVersion } from "./versions.ts";
import type { World } from "./world.ts";

export interface Stairs {
  readonly registry: Registry;
  /** Makes a trace id: 11 or more characters, unique in practice. */
  traceId(): string;
  /** Told of every error that no catalogue entry explains. */
  onUnexpected(error: unknown, traceId: string): void;
}

export async function climb(stairs: Stairs, world: World, request: GraphRequest): Promise<GraphResponse> {
  const traceId = stairs.traceId();
  const step: Progress = { form: "wrapped", endpoint: undefined, caller: undefined, version: undefined, owner: undefined };
  try {
    const answer = await ascend(stairs.registry, world, request, step);
    return response(world, request, step, traceId, 200, {}, JSON.stringify(answer));
  } catch (thrown) {
    const error = thrown instanceof GraphError ? thrown : internalError();
    if (error !== thrown) stairs.onUnexpected(thrown, traceId);
    const { status, headers, body } = renderError(error, step.form, world.profile, traceId);
    return response(world, request, step, traceId, status, headers, JSON.stringify(body));
  }
}

/** How far a call has come: what the answer's headers and an error's form depend on. Only `ascend` writes it. */
interface Progress {
  form: ErrorForm;
  endpoint: Endpoint | undefined;
  caller: Caller | undefined;
  version: string | undefined;
  owner: string | undefined;
}

async function ascend(registry: Registry, world: World, request: GraphRequest, step: Progress): Promise<unknown> {
  step.form = formByShape(request, undefined, registry);
  const address = addressOf(request, registry, world);
  step.form = formByShape(request, address.edge, registry);
  const method = effectiveMethod(request);

  const credentials = await checkTokens(presentedTokens(request, everyPlace), world.tokens, unixSeconds(world.clock));
  const id = address.id === "me" ? meOf(credentials) : address.id;
  const { endpoint, node } = await match(registry, world, request, method, address, id);
  if (endpoint === undefined) throw refusalWithoutEndpoint(request, method, address, credentials, registry, world);

  step.form = endpoint.access.errorForm;
  step.endpoint = endpoint;
  const scheme = schemeFor(endpoint.access.scheme, world.profile);
  const first = credentials[0];
  if (first === undefined) throw missingCredential([], scheme) ?? tokenMissing("access_token");
  const caller = await callerOf(world, first);
  const subject = node ?? { id: caller.app.id, type: "app", owner: caller.app.id };
  step.caller = caller;
  step.owner = subject.owner;

  const around = { reader: world.database.reader, readers: world.readers, facts: world.facts };
  if (node !== undefined && !(await seesNode(policyOf(endpoint.seenBy), credentials, caller.app, node, around))) {
    step.form = formByShape(request, address.edge, registry);
    throw notFound(request, method, address, world);
  }
  const version = servedVersion(endpoint.access.versions, address.version, world.calendar, caller.app.created_time, request.path);
  step.version = formatVersion(version);

  const used = credentialsOf(scheme, credentials, caller);
  for (const { value, token } of used)
    world.tokens.checkProof(request.query.appsecret_proof ?? request.body.appsecret_proof, value, token, caller.app);
  await authorize(policyOf(endpoint.access.policy), used, caller.app, subject, around);
  const refused = world.rateLimits.take(caller.app.id, subject.owner, world.clock.nowMs());
  if (refused !== undefined) throw refused;

  if (request.defect !== undefined) throw request.defect;
  const call: ReadCall = { node: subject, caller, version, world, request, isMigrated: (name) => isMigrated(name, caller.app, world, request) };
  return execute(registry, endpoint, call);
}

/** D-10: every place is looked at to learn who asks; which of them count is the scheme's business. */
const everyPlace: Scheme = { ...clientsScheme, need: "all" };

function meOf(credentials: readonly Credential[]): NodeRef["id"] {
  const first = credentials[0];
  if (first === undefined) throw tokenMissing("access_token");
  return principalOf(first.token);
}

/** D-20: no node, no such edge, no such method. Who brings no credential at all is told that first. */
function refusalWithoutEndpoint(
  request: GraphRequest,
  method: string,
  address: Address,
  credentials: readonly Credential[],
  registry: Registry,
  world: World,
): GraphError {
  if (address.id === undefined) return unknownPath(request.path);
  if (credentials.length > 0) return notFound(request, method, address, world);
  return registry.isFlatEdge(address.edge)
    ? (missingCredential([], schemeFor("pageMessaging", world.profile)) as GraphError)
    : tokenMissing("access_token");
}

async function callerOf(world: World, { token, place }: Credential): Promise<Caller> {
  const app = await world.tokens.findApp(token.app);
  if (app === undefined) throw tokenInvalid(place, "its app is gone");
  return { token, app };
}

/** The credentials that count for the scheme. Throws what is missing, or the conflict of two places (D-10, D-12). */
function credentialsOf(scheme: Scheme, credentials: readonly Credential[], caller: Caller): Credential[] {
  const isOpen = (place: Credential["place"]) => scheme.developmentOnly?.includes(place) !== true || caller.app.mode === "development";
  const used = credentials.filter(({ place }) => scheme.places.includes(place) && isOpen(place));
  const missing = missingCredential(used, scheme);
  if (missing !== undefined) throw missing;
  if (scheme.need === "one" && used.some(({ value }) => value !== used[0]?.value)) {
    throw invalidParameter("access_token", "differs between two places of the request");
  }
  return used;
}

function response(
  world: World,
  request: GraphRequest,
  step: Progress,
  traceId: string,
  status: number,
  extra: Record<string, string>,
  body: string,
): GraphResponse {
  const { caller, owner } = step;
  const app = caller?.app.id;
  const headers: Record<string, string> = {
    "content-type": "application/json; charset=UTF-8",
    "x-pf-trace-id": traceId,
    // D-83: the version that served the answer; the newest where a call did not come that far.
    "pf-api-version": fixedVersions[request.surface] ?? step.version ?? formatVersion(newestVersion(world.calendar)),
    "x-app-usage": usage(app === undefined ? 0 : world.rateLimits.appUsage(app)),
    "x-business-use-case-usage": usage(owner === undefined ? 0 : world.rateLimits.pageUsage(owner)),
    ...extra,
  };
  return { status, headers, body, operation: step.endpoint?.access.operation ?? "unknown", traceId, app };
}

const NO_USAGE = '{"call_count":0}';
/** D-22: percent of the allowed calls that are used. */
const usage = (percent: number): string => (percent === 0 ? NO_USAGE : `{"call_count":${percent}}`);
