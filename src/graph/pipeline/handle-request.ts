/**
 * The pipeline. The steps take and return plain data, so a batch can send each of its requests through the pipeline, and a test needs no socket. Each
 * step returns a value with everything that is known about the request so far (`stages.ts`); the last such value decides the form of an error.
 *
 * **Invariant:** a node that the caller may not see and a node that does not exist get the same response, byte for byte, apart from the trace id.
 */
import type { AuthorizationCheck } from "#auth/authorize";
import type { NodeRef } from "#auth/token";
import { unixSeconds } from "#kernel/clock";
import { GraphError, internalError } from "#kernel/errors";
import { isNodeId, type NodeId } from "#kernel/ids";
import { type OpenSpan, type Tracing, traceContextOf } from "#kernel/tracing/tracing";
import { type Awaitable, chain } from "#kernel/turns";
import { formatVersion, type Version } from "#kernel/versions";
import type { Transaction } from "#storage/database";
import type { Followed } from "#webhooks/webhooks";
import type { Registry } from "../contract/registry.ts";
import { withPairs } from "../request-text/pairs.ts";
import { type AppliedFault, changesWorld, type RequestFaultInput } from "../worlds/fault-injection.ts";
import type { World } from "../worlds/world.ts";
import { authenticate, findTokens } from "./authenticate.ts";
import { authorizeCaller, authorizingAgain, conceal, countingChecks, countRequest, see } from "./authorize.ts";
import { dispatchMany, type Many, manyOf } from "./batch/multi-get.ts";
import { derivedFrom, overrideOf, tokensOf } from "./derived.ts";
import { changeWorld, damaged, matchFault, shortened, throwErrorOf } from "./faults/faults.ts";
import type { Part } from "./fields/project.ts";
import { prepare, read, write } from "./handle.ts";
import { type Parsed, parse } from "./parse.ts";
import { renderError, renderResponse, upgradesOf } from "./render.ts";
import type { GraphRequest, GraphResponse, ServedPart } from "./request.ts";
import { respond } from "./respond.ts";
import {
  checkAddress,
  chooseVersion,
  findEndpoint,
  idOf,
  isFirstMarketingRequest,
  notFound,
  readAddress,
  readMethod,
  recordMarketingUse,
} from "./route.ts";
import type { Addressed, Authenticated, Incoming, Reached, Resolved, Versioned } from "./stages.ts";
import { storyOf, storyOfPart } from "./story/story.ts";
import { noteLeftOut, noteRefusal } from "./unserved.ts";

export interface RequestDeps {
  readonly registry: Registry;
  /** Makes the trace id of a request: 11 or more characters, unique in practice. */
  traceId(): string;
  /** The machine's time in ms, for the durations of a request's steps. */
  monotonicMs(): number;
  /** Called with every error of the pipeline that is not in the error catalogue. */
  onUnexpected(error: unknown, traceId: string): void;
  /** The tracer is undefined if traces are off. */
  readonly tracing?: Tracing | undefined;
}

/**
 * Handles a request whose surface the `http` layer has found. The promise of the response never rejects, because an error becomes a response, too.
 */
export function handleRequest(deps: RequestDeps, world: World, request: GraphRequest): Promise<GraphResponse> {
  world.database.confirm();
  // If another process may have moved the world's clock, the request waits until this process has read the new time.
  return world.clock.rereading === undefined ? begin(deps, world, request) : serveAfter(world.clock.rereading, deps, world, request);
}

async function serveAfter(rereading: Promise<unknown>, deps: RequestDeps, world: World, request: GraphRequest): Promise<GraphResponse> {
  await rereading;
  return begin(deps, world, request);
}

const begin = (deps: RequestDeps, world: World, request: GraphRequest): Promise<GraphResponse> =>
  deps.tracing === undefined ? serve(deps, world, request) : traced(deps, deps.tracing, world, request);

/** D-356: handles a request in a trace span of its own. In a trace, the span of a batch is the parent of the spans of its requests. */
function traced(deps: RequestDeps, tracing: Tracing, world: World, request: GraphRequest): Promise<GraphResponse> {
  const { method, surface, batchDepth } = request;
  const attributes = { "http.request.method": method, "plaza.surface": surface, "plaza.world": world.name };
  const isFirst = batchDepth === 0;
  const parent = isFirst ? { parent: traceContextOf(request.header("traceparent"), request.header("tracestate")) } : {};
  return tracing.run(isFirst ? "request" : "part of a batch", { kind: isFirst ? "server" : "internal", attributes, ...parent }, async (span) => {
    const response = await serve(deps, world, request, span);
    const { operation, status, traceId, app } = response;
    span.set({
      "http.response.status_code": status,
      "plaza.operation": operation,
      "plaza.trace_id": traceId,
      ...(app === undefined ? {} : { "plaza.app": app }),
    });
    return response;
  });
}

/** The progress of a request through the pipeline. The request's story in the request log and the form of an error are made from its progress. */
interface Progress {
  reached: Reached;
  step: number;
  times: number[] | undefined;
  fault: AppliedFault<RequestFaultInput> | undefined;
  parsed: Parsed | undefined;
  /** The transaction of a write. */
  transaction: Transaction | undefined;
  followed: Followed | undefined;
  /** The progress of each request of a batch or of `ids=`. */
  parts: ServedPart[] | undefined;
  span: OpenSpan | undefined;
  /** The addressed node, set if its type has no operation for the method and edge. */
  found: NodeRef | undefined;
}

const progressOf = (times?: number[], span?: OpenSpan): Progress => ({
  reached: {},
  step: 1,
  times,
  fault: undefined,
  parsed: undefined,
  transaction: undefined,
  followed: undefined,
  parts: undefined,
  span,
  found: undefined,
});

/** Begins the next step of the request's story. */
function nextStep({ monotonicMs }: RequestDeps, progress: Progress): void {
  progress.step++;
  progress.times?.push(monotonicMs());
}

async function serve(deps: RequestDeps, world: World, request: GraphRequest, span?: OpenSpan): Promise<GraphResponse> {
  const { registry } = deps;
  const incoming: Incoming = { request, world, registry, traceId: deps.traceId(), now: unixSeconds(world.clock), upgrades: [] };
  const isTimed = request.batchDepth === 0 && world.requests.isNextTimed(request.receivedMs);
  const progress = progressOf(isTimed ? [deps.monotonicMs()] : undefined, span);
  try {
    // 1 Address. 2 Authenticate: check every token of the request. D-93: the tokens are checked before a response can show anything else about the
    // request.
    span?.step("authenticate");
    const addressed = addressOf(incoming, progress);
    const tokens = findTokens(incoming, addressed);
    const authenticated = authenticate(incoming, addressed, tokens instanceof Promise ? await tokens : tokens);
    progress.reached = authenticated;
    if (authenticated.app !== undefined) request.admission?.countAgainst(authenticated.app.id);
    span?.step("endpoint");
    // D-34: each request of a batch or of `ids=` goes through the pipeline by itself.
    const many = manyOf(incoming, authenticated);
    if (many !== undefined) {
      const response = await serveMany(deps, incoming, authenticated, many, progress);
      return reported(deps, request, progress, damaged(response, progress.fault));
    }
    const response = await answer(deps, incoming, authenticated, progress);
    // 12 Render: make JSON, headers and the entity tag.
    span?.step("render");
    return reported(deps, request, progress, damaged(renderResponse(incoming, progress.reached, response), progress.fault));
  } catch (thrown) {
    const error = graphErrorOf(deps, incoming, thrown);
    span?.set({ "error.type": error.errorName });
    if (error.entry.status >= UNEXPECTED) span?.fail(error.errorName);
    await noteRefusal(incoming, progress.reached, progress.found, error);
    return reported(deps, request, progress, damaged(renderError(incoming, progress.reached, error), progress.fault), error);
  }
}

async function serveMany(
  deps: RequestDeps,
  incoming: Incoming,
  authenticated: Authenticated,
  many: Many,
  progress: Progress,
): Promise<GraphResponse> {
  progress.reached = { ...authenticated, many: many.name };
  const again = await struck(incoming, many.name, authenticated, progress);
  if (again !== undefined) return serveMany(deps, ...again, many, progress);
  const batchTraceId = incoming.request.batchTraceId ?? incoming.traceId;
  const parts: ServedPart[] = [];
  progress.parts = parts;
  const handlePart = async (part: GraphRequest): Promise<GraphResponse> => {
    const response = await handleRequest(deps, incoming.world, { ...part, batchTraceId });
    const { operation, status, story } = response;
    parts.push(...(response.parts ?? []), { operation, status, story, method: part.method, path: part.path });
    return response;
  };
  return dispatchMany(handlePart, incoming, progress.reached as Authenticated, many, (part) => parts.push(part));
}

/**
 * D-150: applies the first fault that matches the request. Throws the error that the fault demands, if the fault demands one. If the fault changes
 * the world, the request starts again at its first step, because its tokens may be invalid now; the function then resolves with the restarted
 * request.
 */
async function struck(
  incoming: Incoming,
  operation: string,
  caller: Authenticated & { readonly node?: NodeRef | undefined },
  progress: Progress,
): Promise<[Incoming, Authenticated] | undefined> {
  const { world } = incoming;
  if (world.faults.isEmpty || incoming.isInside === true || progress.fault !== undefined) return undefined;
  const fault = await matchFault(incoming, operation, caller);
  progress.fault = fault;
  if (fault === undefined) return undefined;
  throwErrorOf(fault, caller);
  if (!changesWorld(fault)) return undefined;
  await changeWorld(incoming, caller, fault);
  const later = { ...incoming, now: unixSeconds(world.clock) };
  progress.reached = {};
  const addressed = addressOf(later, progress);
  const again = authenticate(later, addressed, await findTokens(later, addressed));
  progress.reached = again;
  return [later, again];
}

/** The step `address`: reads version, id and edge, and then the method, which a parameter may override. */
function addressOf(incoming: Incoming, progress: Progress): Addressed {
  const address = readAddress(incoming);
  progress.reached = { address };
  const addressed = { address: checkAddress(incoming, address), method: readMethod(incoming.request) };
  progress.reached = addressed;
  return addressed;
}

/** Finds the addressed node: its type and owner, which are one indexed read and mostly cached. */
function nodeOf({ world, request: { door } }: Incoming, { credentials }: Authenticated, id: NodeId | undefined): Awaitable<NodeRef | undefined> {
  if (id === undefined) return undefined;
  // A request without a token gets here only if its operation allows that (D-13).
  return door !== undefined && credentials.length === 0 ? door.showNode(id).then(() => world.findNode(id)) : world.findNode(id);
}

/** A request that the caller may make, after the steps 3 to 7. */
interface Admitted {
  readonly incoming: Incoming;
  readonly versioned: Versioned;
  readonly check: readonly AuthorizationCheck[];
}

/** The node of a request's address, before it is known whether the caller may know about the node. */
interface Addressee {
  readonly id: NodeId | undefined;
  /** Whether the node was in the cache. */
  readonly isCached: boolean;
}

/** The steps from the node to the rights of the caller. Throws or rejects if the caller may not make the request. */
function admit(deps: RequestDeps, incoming: Incoming, authenticated: Authenticated, progress: Progress): Awaitable<Admitted> {
  // 3 Node: find the node's type and owner.
  const named = idOf(incoming, authenticated);
  const id = named === undefined || !isNodeId(named) ? undefined : named;
  const finding = nodeOf(incoming, authenticated, id);
  const addressee = { id, isCached: !(finding instanceof Promise) };
  return chain(finding, (node) => {
    // 4 Endpoint: find the operation by node type, method and edge.
    const resolved = findEndpoint(incoming, authenticated, named, node);
    if (resolved instanceof GraphError) return refuse(incoming, authenticated, addressee, node, resolved, progress);
    progress.reached = resolved;
    return incoming.world.faults.isEmpty
      ? admitTo(deps, incoming, resolved, addressee, progress)
      : admitStruck(deps, incoming, resolved, addressee, progress);
  });
}

async function refuse(
  incoming: Incoming,
  authenticated: Authenticated,
  { id, isCached }: Addressee,
  node: NodeRef | undefined,
  error: GraphError,
  progress: Progress,
): Promise<never> {
  progress.reached = { ...authenticated, node };
  if (id !== undefined && authenticated.app !== undefined) await conceal(incoming, authenticated, id, isCached);
  progress.found = node;
  throw error;
}

async function admitStruck(deps: RequestDeps, incoming: Incoming, resolved: Resolved, addressee: Addressee, progress: Progress): Promise<Admitted> {
  const again = await struck(incoming, resolved.endpoint.access.operation, resolved, progress);
  return again === undefined ? admitTo(deps, incoming, resolved, addressee, progress) : admit(deps, ...again, progress);
}

function admitTo(deps: RequestDeps, incoming: Incoming, resolved: Resolved, addressee: Addressee, progress: Progress): Awaitable<Admitted> {
  const { span } = progress;
  // 5 See: check whether the caller may know that the node exists.
  nextStep(deps, progress);
  span?.step("visibility");
  return chain(see(incoming, resolved), (visible) => {
    if (visible === undefined) return hide(incoming, resolved, addressee, progress);
    progress.reached = visible;

    // 6 Version: choose the version that serves the request.
    const versioned = chooseVersion(incoming, visible);
    progress.reached = versioned;

    // 7 Authorize: check the tokens with their scopes, the tasks and the rate limits.
    span?.step("authorize");
    const check = countingChecks(incoming, versioned);
    return chain(authorizeCaller(incoming, versioned, check), () => {
      countRequest(incoming, versioned);
      const admitted = { incoming, versioned, check };
      return isFirstMarketingRequest(incoming, versioned) ? recordMarketingUse(incoming, versioned).then(() => admitted) : admitted;
    });
  });
}

async function hide(incoming: Incoming, resolved: Resolved, { id, isCached }: Addressee, progress: Progress): Promise<never> {
  // For a hidden node, the response and the SQL statements must be the same as for a missing node.
  if (id !== undefined) await conceal(incoming, resolved, id, isCached, resolved.endpoint.visibility);
  const { address, method, credentials, dead, app, node, endpoint } = resolved;
  progress.reached = { address, method, credentials, dead, app, node, concealed: endpoint };
  throw notFound(incoming, resolved);
}

/**
 * Makes the response to a request, or to a read inside the response to a request. Faults and rate limits do not apply to a read inside a response.
 */
async function answer(deps: RequestDeps, received: Incoming, authenticated: Authenticated, progress: Progress): Promise<unknown> {
  const admitting = admit(deps, received, authenticated, progress);
  const { incoming, versioned, check } = admitting instanceof Promise ? await admitting : admitting;
  const { world } = incoming;
  const { span } = progress;
  const { operation } = versioned.endpoint.access;
  world.workBegins(operation);
  // 8 Parse: read parameters, fields and page by the contract.
  span?.step("parse");
  const parsed = shortened(parse(incoming, versioned, check), progress.fault);
  noteLeftOut(incoming, versioned, parsed);
  // 9 Prepare: send the requests of a write to other servers, before the write's transaction.
  if (parsed.kind === "write") span?.step("prepare");
  const preparing = parsed.kind === "write" ? prepare(parsed) : undefined;
  const prepared = preparing === undefined ? undefined : await preparing;
  // 10 Handle: call the feature, for a write in one transaction.
  progress.parsed = parsed;
  nextStep(deps, progress);
  span?.step("handle");
  const result = await (parsed.kind === "write"
    ? write(parsed, prepared, authorizingAgain(incoming, versioned, check), (tx) => {
        // If the transaction is run again, only the webhooks of its last run count.
        progress.transaction = tx;
      })
    : read(parsed));
  if (progress.transaction !== undefined) progress.followed = world.webhooks.followed(progress.transaction);

  // 11 Respond: make the fields, then undo changes down to the version that serves.
  nextStep(deps, progress);
  span?.step("respond");
  world.workBegins(operation);
  const responding = respond(incoming, versioned, parsed, result, (part) => readPart(deps, incoming, versioned, part));
  return responding instanceof Promise ? await responding : responding;
}

/**
 * Makes a read inside a response: the read of an edge, or of a node that a field names (D-38). A read inside a response has the caller's rights, so
 * it shows no more than a request of the caller would. Resolves with undefined if the caller would get the error for a missing node. Rejects with
 * every error of the inner read except the error for a missing node.
 */
async function readPart(deps: RequestDeps, around: Incoming, { address }: Versioned, part: Part): Promise<unknown> {
  const incoming: Incoming = { ...around, request: requestOfPart(around.request, address.version, part), isInside: true, upgrades: [] };
  const progress = progressOf();
  try {
    const addressed = addressOf(incoming, progress);
    const authenticated = authenticate(incoming, addressed, await findTokens(incoming, addressed));
    progress.reached = authenticated;
    const response = await answer(deps, incoming, authenticated, progress);
    // An upgrade to a later version counts only if the inner read succeeds, because the response does not mention a refused read.
    around.upgrades.push(...upgradesOf(incoming, progress.reached));
    return response;
  } catch (error) {
    if (error instanceof GraphError && missingNode.has(error.errorName)) return undefined;
    throw error;
  }
}

const missingNode: ReadonlySet<string> = new Set(["unsupportedRequest", "unknownObject404"]);

/** The read inside a response, written as a request that the caller could send, so that the links in the edge's response work. */
function requestOfPart(around: GraphRequest, version: Version | undefined, { id, edge, fields }: Part): GraphRequest {
  const tokens = tokensOf(around.query);
  return derivedFrom(around, {
    method: "GET",
    path: `${version === undefined ? "" : `/${formatVersion(version)}`}/${id}${edge === undefined ? "" : `/${edge}`}`,
    queryText: withPairs("", { ...(fields === undefined ? {} : { fields }), ...tokens, ...overrideOf(around) }),
    body: { parameters: tokensOf(around.body), defect: undefined },
    header: around.header,
  });
}

/** The lowest status of an error that the server and not the caller has caused. */
const UNEXPECTED = 500;

function graphErrorOf(deps: RequestDeps, { traceId }: Incoming, thrown: unknown): GraphError {
  if (thrown instanceof GraphError) return thrown;
  deps.onUnexpected(thrown, traceId);
  return internalError();
}

/** Adds the request's story to the response. The story of a request in a batch is added to the story of the batch. */
function reported(deps: RequestDeps, { batchDepth }: GraphRequest, progress: Progress, response: GraphResponse, error?: GraphError): GraphResponse {
  progress.times?.push(deps.monotonicMs());
  // The response object may be changed, because it was made for this request and no other code uses it yet.
  response.story = batchDepth > 0 ? storyOfPart(progress, error) : storyOf(progress, error);
  if (progress.parts !== undefined) response.parts = progress.parts;
  return response;
}
