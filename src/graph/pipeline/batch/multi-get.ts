/**
 * D-34: handles an HTTP request that consists of several requests. `ids=` reads many nodes, and a batch has up to 50 requests. Each request of a
 * batch goes through the pipeline by itself.
 */
import { type GraphError, invalidParameter, unknownPath } from "#kernel/errors";
import { nextPartsTurn } from "#kernel/turns";
import { parseVersion } from "#kernel/versions";
import { withoutPairs } from "../../request-text/pairs.ts";
import { segmentsOf } from "../address.ts";
import { missingToken } from "../authenticate.ts";
import { derivedFrom, withoutTag } from "../derived.ts";
import { textsOf } from "../parameters.ts";
import { renderError, renderPart, renderResponse, SERVED_VERSION, UPGRADE_WARNING } from "../render.ts";
import type { GraphResponse, HandleRequest, ServedPart } from "../request.ts";
import type { Authenticated, Incoming, ManyName } from "../stages.ts";
import { refusalStory } from "../story/story.ts";
import { RESPONSE_CHARACTERS_MAX, runBatch } from "./batch.ts";
import type { BatchRequest } from "./read-batch.ts";

/** The greatest number of ids in `ids=`. A batch may have as many requests as `ids=` may have ids. */
const IDS_MAX = 50;

/** The parameter `batch` or `ids` of an HTTP request that consists of several requests. */
export interface Many {
  /** The parameter's name. In logs and faults, the parameter's name is the operation of the whole request (D-375). */
  readonly name: ManyName;
  readonly batch?: unknown;
  readonly ids?: unknown;
}

/**
 * Returns the parameter `batch` or `ids`, which only a request for the root path may have. Undefined if the request has neither `batch` nor `ids`.
 */
export function manyOf({ request, registry }: Incoming, { address, method }: Authenticated): Many | undefined {
  if (address.id !== undefined || registry.findLiteral(method, address.edge ?? "") !== undefined) return undefined;
  // D-34: null in the body means that the client left the parameter out.
  const batch = method === "POST" ? (request.body.batch ?? request.query.batch ?? undefined) : undefined;
  const ids = method === "GET" ? (request.query.ids ?? request.body.ids ?? undefined) : undefined;
  return batch === undefined && ids === undefined ? undefined : { name: batch === undefined ? "ids" : "batch", batch, ids };
}

/**
 * Resolves with the response to all requests of a batch or of `ids=`. Throws if the parameter `batch` or `ids` is wrong as a whole. `onNotRun` is
 * called with each request of the batch that was refused before it could begin.
 */
export function dispatchMany(
  handleRequest: HandleRequest,
  incoming: Incoming,
  reached: Authenticated,
  { batch, ids }: Many,
  onNotRun: (part: ServedPart) => void,
): Promise<GraphResponse> {
  const { request } = incoming;
  const { address, method, credentials } = reached;
  if (request.batchDepth > 0 && batch !== undefined) throw invalidParameter("batch", "cannot be inside a batch");
  if (credentials.length === 0) throw missingToken(incoming, { address, method });
  if (request.defect !== undefined) throw request.defect;
  if (batch === undefined) return readMany(handleRequest, incoming, reached, ids);
  const refuse = (error: GraphError, { method, relative_url }: BatchRequest): GraphResponse => {
    const response = renderError(incoming, reached, error);
    const [path = ""] = relative_url.split("?", 1);
    onNotRun({ operation: "unknown", status: response.status, story: refusalStory(error), method, path });
    return response;
  };
  return runBatch(handleRequest, incoming, batch, refuse).then((response) => renderResponse(incoming, reached, response));
}

/**
 * Responds to `ids=` with an object that has each node's response under its id. If a read of `ids=` fails, the first error becomes the response to
 * the whole request.
 */
async function readMany(handleRequest: HandleRequest, incoming: Incoming, reached: Authenticated, ids: unknown): Promise<GraphResponse> {
  const { request } = incoming;
  const list = textsOf(ids, "ids");
  if (list === undefined || list.length === 0 || list.some((id) => id === "")) throw invalidParameter("ids", "must be a comma-separated list of ids");
  if (list.length > IDS_MAX) throw invalidParameter("ids", `names more than ${IDS_MAX} ids`);
  const segments = segmentsOf(request.path);
  const version = segments[0] !== undefined && parseVersion(segments[0]) !== undefined ? `/${segments.shift()}` : "";
  if (segments.length > 1) throw unknownPath(request.path);
  const edge = segments[0] === undefined ? "" : `/${segments[0]}`;
  const { ids: _, ...parameters } = request.body;
  const part = {
    method: "GET",
    queryText: withoutPairs(request.queryText, (name) => name === "ids" || name.startsWith("ids[")),
    body: { parameters, defect: undefined },
    header: withoutTag(request),
  };
  const responses: Record<string, unknown> = {};
  const headersOfReads: GraphResponse["headers"][] = [];
  let characters = 0;
  for (const id of new Set(list)) {
    if (characters > RESPONSE_CHARACTERS_MAX) {
      throw invalidParameter(
        "ids",
        `has responses of more than ${RESPONSE_CHARACTERS_MAX} characters before ${id}: ask for fewer, or for fewer fields`,
      );
    }
    // A request with `ids=` takes as long as all its reads together, so the server serves other requests between two reads.
    await nextPartsTurn();
    const response = await handleRequest(derivedFrom(request, { ...part, path: `${version}/${id}${edge}` }));
    if (response.status !== 200) return renderPart(incoming, response);
    characters += response.body.length;
    responses[id] = JSON.parse(response.body);
    headersOfReads.push(response.headers);
  }
  // D-83: the version headers of the response to `ids=` come from the first read that was upgraded, or else from the first read.
  const shown = headersOfReads.find((headers) => UPGRADE_WARNING in headers) ?? headersOfReads[0] ?? {};
  const response = renderResponse(incoming, reached, responses);
  const ofVersion = [SERVED_VERSION, UPGRADE_WARNING].flatMap((name) => (shown[name] === undefined ? [] : [[name, shown[name]]]));
  return { ...response, headers: { ...response.headers, ...Object.fromEntries(ofVersion) } };
}
