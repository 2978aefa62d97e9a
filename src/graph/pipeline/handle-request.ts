/**
 * The pipeline: every request takes these steps, on plain data, so that a batch re-enters here and a test needs no socket. What
 * a step learns it returns (`stages.ts`); the last value that was reached says how an error is rendered.
 *
 * **Invariant:** a node that the caller may not see and one that does not exist get the same response, byte for byte but the trace
 * id.
 */
import { unixSeconds } from "#kernel/clock";
import { GraphError, internalError } from "#kernel/errors";
import type { Registry } from "../contract/registry.ts";
import type { Met, RequestFaultInput } from "../worlds/fault-injection.ts";
import type { World } from "../worlds/world.ts";
import { authenticate } from "./authenticate.ts";
import { authorizeCaller, see } from "./authorize.ts";
import { dispatchMany, type ManyResponses } from "./batch/multi-get.ts";
import { damaged, meetFault, throwErrorOf } from "./faults/faults.ts";
import { handle, prepare } from "./handle.ts";
import { parse } from "./parse.ts";
import { readPart } from "./parts.ts";
import { renderError, renderPart, renderResponse } from "./render.ts";
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
import type { Incoming, Reached } from "./stages.ts";
import { type Ending, type Storyteller, storyOf } from "./story/story.ts";

export interface RequestDeps {
  readonly registry: Registry;
  /** Makes a trace id: 11 or more characters, unique in practice. */
  traceId(): string;
  /** The machine's, for the story of a request. */
  monotonicMs(): number;
  /** Called with every error that is not one of the catalogue. */
  onUnexpected(error: unknown, traceId: string): void;
}

/** Never rejects: an error is a response too. The surface, the step before these, is the business of `http`. */
export function handleRequest(deps: RequestDeps, world: World, request: GraphRequest): Promise<GraphResponse> {
  world.database.confirm();
  // Another process may have moved the clock: the time from before would answer as if nothing had happened.
  const { rereading } = world.clock;
  return rereading === undefined ? serve(deps, world, request) : rereading.then(() => serve(deps, world, request));
}

async function serve(deps: RequestDeps, world: World, request: GraphRequest): Promise<GraphResponse> {
  const incoming: Incoming = { request, world, registry: deps.registry, traceId: deps.traceId(), now: unixSeconds(world.clock) };
  const story = storyOf(world, request, deps.monotonicMs);
  let reached: Reached = {};
  let fault: Met<RequestFaultInput> | undefined;
  try {
    // 1 Address: version, id and edge; then the method, which a parameter may override.
    const address = readAddress(incoming);
    reached = { address };
    const addressed = { address: checkAddress(address), method: readMethod(request) };
    reached = addressed;

    // 2 Authenticate: every token that the request brings. D-93: before anything else about the request can show.
    const authenticated = await authenticate(incoming, addressed);
    reached = authenticated;
    if (authenticated.app !== undefined) request.admission?.countAgainst(authenticated.app.id);
    // D-34: a batch, or `ids=`: each of its requests goes through the pipeline by itself.
    const many = dispatchMany((part) => handleRequest(deps, world, part), incoming, authenticated);
    if (many !== undefined) return reported(story, reached, renderMany(incoming, reached, await many));

    // 3 Node: one indexed read, mostly cached.
    const id = idOf(incoming, authenticated);
    const node = id === undefined ? undefined : await world.findNode(id);

    // 4 Endpoint: by node type, method and edge.
    const resolved = findEndpoint(incoming, authenticated, id, node);
    reached = resolved;
    if (!world.faults.isEmpty) fault = await meetFault(incoming, resolved);
    if (fault !== undefined) throwErrorOf(fault, resolved);

    // 5 Visibility: may the caller know that the node exists?
    story?.begin("check");
    const visible = await see(incoming, resolved);
    if (visible === undefined) {
      // From here on the request is one that found no node.
      reached = { ...authenticated, concealed: resolved.endpoint };
      throw notFound(incoming, authenticated);
    }
    reached = visible;

    // 6 Version: which one serves the request.
    const versioned = chooseVersion(incoming, visible);
    reached = versioned;

    // 7 Authorize: the places of the tokens, scopes, tasks, rate limits.
    const check = await authorizeCaller(incoming, versioned);
    if (isFirstMarketingRequest(incoming, versioned)) await recordMarketingUse(incoming, versioned);

    // 8 Parse: parameters, fields and page, against the contract.
    const parsed = parse(incoming, versioned, check);
    // 9 Prepare: what a write must ask a network first, never inside a transaction.
    const prepared = parsed.kind === "write" ? await prepare(parsed) : undefined;
    // 10 Handle: a write in one transaction.
    story?.begin("handle", parsed);
    const handled = await handle(parsed, prepared, story);

    // 11 Respond: the fields, then the changes back to the version that serves.
    story?.begin("respond");
    const response = await respond(incoming, versioned, handled, readPart);

    // 12 Render: JSON, headers, entity tag.
    return reported(story, reached, damaged(renderResponse(incoming, reached, response), fault), { fault });
  } catch (thrown) {
    const error = graphErrorOf(deps, incoming, thrown);
    return reported(story, reached, damaged(renderError(incoming, reached, error), fault), { fault, error: error.errorName });
  }
}

function graphErrorOf(deps: RequestDeps, { traceId }: Incoming, thrown: unknown): GraphError {
  if (thrown instanceof GraphError) return thrown;
  deps.onUnexpected(thrown, traceId);
  return internalError();
}

const reported = (story: Storyteller | undefined, reached: Reached, response: GraphResponse, ending?: Ending): GraphResponse =>
  story === undefined ? response : story.tell(reached, response, ending);

const renderMany = (incoming: Incoming, reached: Reached, { failed, response }: ManyResponses): GraphResponse =>
  failed === undefined ? renderResponse(incoming, reached, response) : renderPart(incoming, failed);
