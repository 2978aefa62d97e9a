/**
 * The pipeline. Every request takes these steps on plain data, so a batch enters here again for its parts and a test needs no socket. Each step
 * returns what it learned (`stages.ts`), and the last value that was reached decides how an error is rendered.
 *
 * **Invariant:** a node that the caller may not see and one that does not exist get the same response, byte for byte, apart from the trace id.
 */
import { unixSeconds } from "#kernel/clock";
import { GraphError, internalError } from "#kernel/errors";
import { isNodeId } from "#kernel/ids";
import { formatVersion, type Version } from "#kernel/versions";
import type { Registry } from "../contract/registry.ts";
import { withPairs } from "../request-text/pairs.ts";
import type { AppliedFault, RequestFaultInput } from "../worlds/fault-injection.ts";
import type { World } from "../worlds/world.ts";
import { authenticate } from "./authenticate.ts";
import { authorizeAgain, authorizeCaller, see } from "./authorize.ts";
import { dispatchMany } from "./batch/multi-get.ts";
import { derivedFrom, overrideOf, tokensOf } from "./derived.ts";
import { damaged, matchFault, throwErrorOf } from "./faults/faults.ts";
import type { Part } from "./fields/project.ts";
import { handle, prepare } from "./handle.ts";
import { parse } from "./parse.ts";
import { renderError, renderResponse, upgradesOf } from "./render.ts";
import type { GraphRequest, GraphResponse } from "./request.ts";
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
import type { Addressed, Authenticated, Incoming, Reached, Versioned } from "./stages.ts";
import { type StoryRecorder, storyOf } from "./story/story.ts";

export interface RequestDeps {
  readonly registry: Registry;
  /** Makes a trace id: 11 or more characters, unique in practice. */
  traceId(): string;
  /** The machine's time, for the trace of a request. */
  monotonicMs(): number;
  /** Called with every error that is not in the catalogue. */
  onUnexpected(error: unknown, traceId: string): void;
}

/** Never rejects, because an error is a response too. `http` has found the surface before. */
export function handleRequest(deps: RequestDeps, world: World, request: GraphRequest): Promise<GraphResponse> {
  world.database.confirm();
  // Another process may have moved the clock. The time from before the move would be wrong.
  const { rereading } = world.clock;
  return rereading === undefined ? serve(deps, world, request) : rereading.then(() => serve(deps, world, request));
}

/** How far a request has come. Its log and the form of its error are made from this. */
interface Progress {
  reached: Reached;
  fault?: AppliedFault<RequestFaultInput> | undefined;
  story?: StoryRecorder | undefined;
}

async function serve(deps: RequestDeps, world: World, request: GraphRequest): Promise<GraphResponse> {
  const { registry } = deps;
  const incoming: Incoming = { request, world, registry, traceId: deps.traceId(), now: unixSeconds(world.clock), upgrades: [] };
  const progress: Progress = { reached: {}, story: storyOf(world, request, deps.monotonicMs) };
  try {
    // 1 Address. 2 Authenticate: every token that the request brings. D-93: before anything else about the request can show.
    const authenticated = await authenticate(incoming, addressOf(incoming, progress));
    progress.reached = authenticated;
    if (authenticated.app !== undefined) request.admission?.countAgainst(authenticated.app.id);
    // D-34: each request of a batch or of `ids=` goes through the pipeline by itself.
    const many = dispatchMany((part) => handleRequest(deps, world, part), incoming, authenticated);
    if (many !== undefined) return reported(progress, await many);
    const response = await answer(incoming, authenticated, progress);
    // 12 Render: JSON, headers, entity tag.
    return reported(progress, damaged(renderResponse(incoming, progress.reached, response), progress.fault));
  } catch (thrown) {
    const error = graphErrorOf(deps, incoming, thrown);
    return reported(progress, damaged(renderError(incoming, progress.reached, error), progress.fault), error.errorName);
  }
}

/** The first step: version, id and edge; then the method, which a parameter may override. */
function addressOf(incoming: Incoming, progress: Progress): Addressed {
  const address = readAddress(incoming);
  progress.reached = { address };
  const addressed = { address: checkAddress(incoming, address), method: readMethod(incoming.request) };
  progress.reached = addressed;
  return addressed;
}

/** Answers a request, or a read inside its response, to which faults and rates do not apply. */
async function answer(incoming: Incoming, authenticated: Authenticated, progress: Progress): Promise<unknown> {
  const { world } = incoming;
  const { story } = progress;
  // 3 Node: one indexed read, mostly cached.
  const id = idOf(incoming, authenticated);
  const node = id === undefined || !isNodeId(id) ? undefined : await world.findNode(id);

  // 4 Endpoint: by node type, method and edge.
  const resolved = findEndpoint(incoming, authenticated, id, node);
  progress.reached = resolved;
  if (!world.faults.isEmpty && incoming.isInside !== true) progress.fault = await matchFault(incoming, resolved);
  if (progress.fault !== undefined) throwErrorOf(progress.fault, resolved);

  // 5 See: whether the caller may know that the node exists.
  story?.begin("check");
  const visible = await see(incoming, resolved);
  if (visible === undefined) {
    // The response must not differ from that of a missing node.
    progress.reached = { ...authenticated, concealed: resolved.endpoint };
    throw notFound(incoming, authenticated);
  }
  progress.reached = visible;

  // 6 Version: the version that serves the request.
  const versioned = chooseVersion(incoming, visible);
  progress.reached = versioned;

  // 7 Authorize: the places of the tokens, scopes, tasks, rate limits.
  const check = await authorizeCaller(incoming, versioned);
  if (isFirstMarketingRequest(incoming, versioned)) await recordMarketingUse(incoming, versioned);

  const { operation } = versioned.endpoint.access;
  world.workBegins(operation);
  // 8 Parse: parameters, fields and page, against the contract.
  const parsed = parse(incoming, versioned, check);
  // 9 Prepare: requests of a write to other servers, before its transaction.
  const prepared = parsed.kind === "write" ? await prepare(parsed) : undefined;
  // 10 Handle: a write in one transaction.
  story?.begin("handle", parsed);
  const handled = await handle(parsed, prepared, (tx) => authorizeAgain(incoming, versioned, check, tx), story);

  // 11 Respond: the fields, then the changes back to the version that serves.
  story?.begin("respond");
  world.workBegins(operation);
  return await respond(incoming, versioned, handled, (part) => readPart(incoming, versioned, part));
}

/**
 * Reads an edge, or a node that a field names, inside a response (D-38). It is a request of the caller's own, so it shows no more than one.
 * If it is undefined, the caller gets the response of a missing node. Rejects with every other error of that read.
 */
async function readPart(around: Incoming, { address }: Versioned, part: Part): Promise<unknown> {
  const incoming: Incoming = { ...around, request: requestOfPart(around.request, address.version, part), isInside: true, upgrades: [] };
  const progress: Progress = { reached: {} };
  try {
    const authenticated = await authenticate(incoming, addressOf(incoming, progress));
    progress.reached = authenticated;
    const response = await answer(incoming, authenticated, progress);
    // The response does not mention a refused read.
    around.upgrades.push(...upgradesOf(incoming, progress.reached));
    return response;
  } catch (error) {
    if (error instanceof GraphError && missingNode.has(error.errorName)) return undefined;
    throw error;
  }
}

const missingNode: ReadonlySet<string> = new Set(["unsupportedRequest", "unknownObject404"]);

/** As the caller would send it, so that the links of an edge work. */
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

function graphErrorOf(deps: RequestDeps, { traceId }: Incoming, thrown: unknown): GraphError {
  if (thrown instanceof GraphError) return thrown;
  deps.onUnexpected(thrown, traceId);
  return internalError();
}

const reported = ({ story, reached, fault }: Progress, response: GraphResponse, error?: string): GraphResponse =>
  story === undefined ? response : story.finish(reached, response, { fault, error });
