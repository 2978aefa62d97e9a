/**
 * The pipeline: every request climbs them, on plain data, so that a batch re-enters here and a test needs no socket.
 *
 *  1 surface (http)   2 address   3 id → node   4 endpoint   5 version   6 authenticate   7 parse   8 authorize
 *  9 prepare   10 handle, in one transaction   11 changes back and fields   12 render
 *
 * **Invariant:** a node that the caller may not see and one that does not exist answer alike, byte for byte but the trace id.
 */
import { hash } from "node:crypto";
import type { AppFacts } from "#auth/app-facts";
import { authorizationCheck, authorize, canSeeNode } from "#auth/authorize";
import { type Credential, checkKnownToken, checkTokens, missingCredential, presentedTokens, schemeFor } from "#auth/credentials";
import type { NodeRef } from "#auth/node-ref";
import { policyOf } from "#auth/policies";
import { clientsScheme, type Scheme } from "#auth/schemes";
import { principalOf } from "#auth/token";
import { tokenOfApp } from "#auth/tokens";
import { unixSeconds } from "#kernel/clock";
import { GraphError, internalError, invalidParameter, tokenInvalid, tokenMissing, unknownPath } from "#kernel/errors";
import { formatVersion, type Version } from "#kernel/versions";
import type { ErrorForm, ReadRequest } from "../contract/operation.ts";
import type { Endpoint, Registry } from "../contract/registry.ts";
import { renderError } from "../response/error-forms.ts";
import { isMigrationOn, readMigrationsOverride } from "../versions/migration-windows.ts";
import { newestVersion, servedVersion, upgradeWarning } from "../versions/resolve.ts";
import { isMarketing } from "../versions/rules.ts";
import { fixedVersions } from "../versions/surfaces.ts";
import type { World } from "../worlds/world.ts";
import type { Address } from "./address.ts";
import { dispatchMany, SubRequestFailed } from "./batch/multi-get.ts";
import type { Caller } from "./caller.ts";
import { withDebug } from "./debug.ts";
import { execute } from "./execute.ts";
import type { GraphRequest, GraphResponse } from "./request.ts";
import { addressOf, effectiveMethod, endpointOf, formByShape, isLiteralOn, notFound } from "./route.ts";

export interface RequestDeps {
  readonly registry: Registry;
  /** Makes a trace id: 11 or more characters, unique in practice. */
  traceId(): string;
  /** Told of every error that no catalogue entry explains. */
  onUnexpected(error: unknown, traceId: string): void;
}

export async function handleRequest(deps: RequestDeps, world: World, request: GraphRequest): Promise<GraphResponse> {
  const traceId = deps.traceId();
  const step: RequestState = {
    form: "wrapped",
    endpoint: undefined,
    caller: undefined,
    version: undefined,
    owner: undefined,
    headers: undefined,
    tag: undefined,
  };
  try {
    const result = await runPipeline(deps, world, request, step);
    const body = JSON.stringify(result);
    const isUnchanged = request.method !== "POST" && request.method !== "DELETE" && isKnown(request, step, body);
    return response(world, request, step, traceId, isUnchanged ? 304 : 200, undefined, isUnchanged ? "" : body);
  } catch (thrown) {
    if (thrown instanceof SubRequestFailed)
      return { ...response(world, request, step, traceId, thrown.status, undefined, JSON.stringify(thrown.response)), headers: thrown.headers };
    const error = thrown instanceof GraphError ? thrown : internalError();
    if (error !== thrown) deps.onUnexpected(thrown, traceId);
    const { status, headers, body } = renderError(error, step.form, world.profile, traceId);
    return response(world, request, step, traceId, status, headers, JSON.stringify(body));
  }
}

/** How far a request has come: what the response's headers and an error's form depend on. Only `ascend` writes it. */
interface RequestState {
  form: ErrorForm;
  endpoint: Endpoint | undefined;
  caller: Caller | undefined;
  version: string | undefined;
  owner: string | undefined;
  /** What the response carries beside the headers of every response. */
  headers: Readonly<Record<string, string>> | undefined;
  /** Of a response to a read. */
  tag: string | undefined;
}

function addHeaders(step: RequestState, headers: Readonly<Record<string, string>> | undefined): void {
  if (headers !== undefined) step.headers = step.headers === undefined ? headers : { ...step.headers, ...headers };
}

/** D-34: the entity tag of a response to a read; true when the caller has that very answer. */
function isKnown(request: GraphRequest, step: RequestState, body: string): boolean {
  const tag = `"${hash("sha1", body, "base64url")}"`;
  step.tag = tag;
  const known = request.header("if-none-match");
  return known !== undefined && (known.trim() === "*" || known.split(",").some((one) => one.trim().replace(/^W\//, "") === tag));
}

async function runPipeline(deps: RequestDeps, world: World, graphRequest: GraphRequest, step: RequestState): Promise<unknown> {
  const { registry } = deps;
  step.form = formByShape(graphRequest, undefined, registry);
  const address = addressOf(graphRequest, registry, world);
  step.form = formByShape(graphRequest, address.edge, registry);
  if (address.version !== undefined) step.version = formatVersion(address.version);
  const method = effectiveMethod(graphRequest);
  addHeaders(step, registry.headersOf(method, address.edge));

  const now = unixSeconds(world.clock);
  const presented = presentedTokens(graphRequest, everyPlace);
  const credentials = checkKnownToken(presented, world.tokens, now) ?? (await checkTokens(presented, world.tokens, now));
  const id = address.id === "me" ? meOf(credentials) : address.id;
  // D-34: the root takes batches and `ids=`, which runs the pipeline anew for each of their requests.
  if (address.id === undefined && registry.findLiteral(method, address.edge ?? "") === undefined) {
    const many = dispatchMany((part) => handleRequest(deps, world, part), graphRequest, method, credentials.length > 0);
    if (many !== undefined) return many;
  }
  const node = id === undefined || id === "me" ? undefined : (world.peekNode(id) ?? (await world.findNode(id)));
  const endpoint = node === undefined && id !== undefined ? undefined : endpointOf(registry, world, graphRequest, method, address, node);
  if (endpoint === undefined) throw refusalWithoutEndpoint(graphRequest, method, address, credentials, registry, world);

  step.form = endpoint.access.errorForm;
  step.endpoint = endpoint;
  if (!world.faults.isEmpty) await world.faults.inject(endpoint.access.operation);
  addHeaders(step, endpoint.access.headers);
  const scheme = schemeFor(endpoint.access.scheme, world.profile);
  if (credentials.length === 0) credentials.push(...(await withoutToken(world, endpoint, node)));
  const first = credentials[0];
  if (first === undefined) throw missingCredential([], scheme) ?? tokenMissing("access_token");
  const caller = callerOf(world.tokens.peekApp(first.token.app) ?? (await world.tokens.findApp(first.token.app)), first);
  const subject = node ?? { id: caller.app.id, type: "app", owner: caller.app.id };
  step.caller = caller;
  step.owner = subject.owner;

  const around = { reader: world.database.reader, ports: world.ports, facts: world.facts, profile: world.profile };
  const check = authorizationCheck(credentials, caller.app, subject, around);
  if (node !== undefined) {
    const canSee = canSeeNode(policyOf(endpoint.visibility), check);
    if (canSee !== true && !(await canSee)) {
      step.form = formByShape(graphRequest, address.edge, registry);
      throw notFound(graphRequest, method, address, world);
    }
  }
  const version = versionOf(world, graphRequest, endpoint, address, caller, step, now);

  const used = credentialsOf(scheme, endpoint.access.scheme === "pageMessaging", credentials, caller);
  for (const { value, token } of used)
    world.tokens.checkProof(graphRequest.query.appsecret_proof ?? graphRequest.body.appsecret_proof, value, token, caller.app);
  const usedAsking = used === credentials ? check : authorizationCheck(used, caller.app, subject, around);
  const authorizing = authorize(policyOf(endpoint.access.policy), usedAsking);
  if (authorizing !== undefined) await authorizing;
  const refused = world.rateLimits.take(caller.app.id, subject.owner, world.clock.nowMs());
  if (refused !== undefined) throw refused;

  if (graphRequest.defect !== undefined) throw graphRequest.defect;
  if (isMarketing(endpoint.access.versions) && caller.app.marketing_first_used_time === 0) await recordMarketingUse(world, caller);
  const operationRequest: ReadRequest = {
    node: subject,
    caller,
    version,
    world,
    graphRequest,
    isMigrated: migrationsOf(world, graphRequest, caller, now),
  };
  const result = await execute(registry, endpoint, operationRequest, usedAsking);
  return withDebug(result, endpoint, operationRequest, address.version, step.headers ?? {});
}

function versionOf(
  world: World,
  request: GraphRequest,
  endpoint: Endpoint,
  { version: asked }: Address,
  caller: Caller,
  step: RequestState,
  now: number,
): Version {
  const { access, names } = endpoint;
  const served = servedVersion({ rule: access.versions, asked, app: caller.app, calendar: world.calendar, now, names, path: request.path });
  step.version = formatVersion(served.version);
  if (served.upgradedFrom !== undefined) addHeaders(step, { "x-ad-api-version-warning": upgradeWarning(served.version, served.upgradedFrom) });
  return served.version;
}

/** VER-5c: an app's first marketing request sets its floor for good. */
async function recordMarketingUse(world: World, { app }: Caller): Promise<void> {
  await world.database.write((tx) => world.ports.of("app").recordMarketingUse(tx, app.id, unixSeconds(world.clock)));
}

/** VER-7h. The override is read, and a wrong one refused, whether or not the operation looks at a migration. */
function migrationsOf(world: World, request: GraphRequest, { app }: Caller, now: number): (name: string) => boolean {
  const override = readMigrationsOverride(request.query.migrations_override ?? request.body.migrations_override, world.calendar.migrations, now);
  return (name) => {
    const window = world.calendar.migrations.find((known) => known.name === name);
    return window !== undefined && isMigrationOn(window, app, override, now);
  };
}

/** D-10: every place is looked at to learn who asks; which of them count is the scheme's business. */
const everyPlace: Scheme = { ...clientsScheme, need: "all" };

function meOf(credentials: readonly Credential[]): NodeRef["id"] {
  const first = credentials[0];
  if (first === undefined) throw tokenMissing("access_token");
  return principalOf(first.token);
}

/** D-13 [clients]: the addressed app's own credential, where it lets such requests come without one. */
async function withoutToken(world: World, { access }: Endpoint, node: NodeRef | undefined): Promise<Credential[]> {
  if (world.profile !== "clients" || access.tokenless === undefined || node?.type !== "app") return [];
  const app = await world.tokens.findApp(node.id);
  return app !== undefined && access.tokenless(app) ? [{ place: "bearer", value: "", token: tokenOfApp(app) }] : [];
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
  if (address.id === undefined && !isLiteralOn(registry, world, request, address)) return unknownPath(request.path);
  if (credentials.length > 0) return notFound(request, method, address, world);
  return registry.isFlatEdge(address.edge)
    ? (missingCredential([], schemeFor("pageMessaging", world.profile)) as GraphError)
    : tokenMissing("access_token");
}

function callerOf(app: AppFacts | undefined, { token, place }: Credential): Caller {
  if (app === undefined) throw tokenInvalid(place, "its app is gone");
  return { token, app };
}

/** The credentials that count for the scheme. Throws what is missing, or the conflict of two places (D-12; for page messaging each is checked). */
function credentialsOf(scheme: Scheme, isEachChecked: boolean, credentials: readonly Credential[], caller: Caller): readonly Credential[] {
  const isOpen = (place: Credential["place"]) => scheme.developmentOnly?.includes(place) !== true || caller.app.mode === "development";
  const counts = ({ place }: Credential) => scheme.places.includes(place) && isOpen(place);
  const used = credentials.every(counts) ? credentials : credentials.filter(counts);
  const missing = missingCredential(used, scheme);
  if (missing !== undefined) throw missing;
  if (!isEachChecked && used.some(({ value }) => value !== used[0]?.value)) {
    throw invalidParameter("access_token", "differs between two places of the request");
  }
  return used;
}

function response(
  world: World,
  request: GraphRequest,
  step: RequestState,
  traceId: string,
  status: number,
  extra: Record<string, string> | undefined,
  body: string,
): GraphResponse {
  const { caller, owner } = step;
  const app = caller?.app.id;
  const headers: Record<string, string> = {
    "content-type": "application/json; charset=UTF-8",
    "x-pf-trace-id": traceId,
    // D-83: the version that served the response; where a request did not come that far the one it asked for, or else the newest.
    "pf-api-version": fixedVersions[request.surface] ?? step.version ?? formatVersion(newestVersion(world.calendar)),
    "x-app-usage": usage(app === undefined ? 0 : world.rateLimits.appUsage(app)),
    "x-business-use-case-usage": usage(owner === undefined ? 0 : world.rateLimits.pageUsage(owner)),
  };
  if (step.headers !== undefined) Object.assign(headers, step.headers);
  if (step.tag !== undefined) headers.etag = step.tag;
  if (extra !== undefined) Object.assign(headers, extra);
  return { status, headers, body, operation: step.endpoint?.access.operation ?? "unknown", traceId, app };
}

const NO_USAGE = '{"call_count":0}';
/** D-22: percent of the allowed calls that are used. */
const usage = (percent: number): string => (percent === 0 ? NO_USAGE : `{"call_count":${percent}}`);
