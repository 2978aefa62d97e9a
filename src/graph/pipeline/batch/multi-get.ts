/** D-34: several requests in one. `ids=` reads many nodes; a batch holds up to 50 requests. Each goes through the pipeline by itself. */
import { type GraphError, invalidParameter, unknownPath } from "#kernel/errors";
import { nextTurn } from "#kernel/turns";
import { parseVersion } from "#kernel/versions";
import { segmentsOf } from "../address.ts";
import { missingToken } from "../authenticate.ts";
import { textsOf } from "../parameters.ts";
import { renderError } from "../render.ts";
import type { GraphRequest, GraphResponse, HandleRequest, Parameters } from "../request.ts";
import type { Authenticated, Incoming } from "../stages.ts";
import { RESPONSE_CHARACTERS_MAX, runBatch } from "./batch.ts";

/** As many as a batch holds. */
const IDS_MAX = 50;

/** A pair of the query that names ids, in any of the ways of D-161. */
const IDS = /^ids(?:(?:\[|%5B).*)?(?:=|$)/i;

/** The response to all, or the one that `failed` and stands for all. */
export type ManyResponses =
  | { readonly response: unknown; readonly failed?: undefined }
  | { readonly response?: undefined; readonly failed: GraphResponse };

/** Undefined when the request is neither: only the root takes them. Throws what is wrong with the request as a whole. */
export function dispatchMany(
  handleRequest: HandleRequest,
  incoming: Incoming,
  { address, method, credentials }: Authenticated,
): Promise<ManyResponses> | undefined {
  const { request, registry } = incoming;
  if (address.id !== undefined || registry.findLiteral(method, address.edge ?? "") !== undefined) return undefined;
  const batch = method === "POST" ? (request.body.batch ?? request.query.batch) : undefined;
  const ids = method === "GET" ? (request.query.ids ?? request.body.ids) : undefined;
  if (batch === undefined && ids === undefined) return undefined;
  if (request.batchDepth > 0 && batch !== undefined) throw invalidParameter("batch", "cannot stand inside a batch");
  if (credentials.length === 0) throw missingToken(incoming, { address, method });
  if (request.defect !== undefined) throw request.defect;
  if (batch === undefined) return readMany(handleRequest, request, ids);
  const refuse = (error: GraphError) => renderError(incoming, { address, method, credentials }, error);
  return runBatch(handleRequest, request, batch, refuse).then((response) => ({ response }));
}

/** An object of the responses by id. The first that fails is the response to the whole request. */
async function readMany(handleRequest: HandleRequest, request: GraphRequest, ids: unknown): Promise<ManyResponses> {
  const list = textsOf(ids, "ids");
  if (list === undefined || list.length === 0 || list.some((id) => id === "")) throw invalidParameter("ids", "must be a comma-separated list of ids");
  if (list.length > IDS_MAX) throw invalidParameter("ids", `names more than ${IDS_MAX} ids`);
  const segments = segmentsOf(request.path);
  const version = segments[0] !== undefined && parseVersion(segments[0]) !== undefined ? `/${segments.shift()}` : "";
  if (segments.length > 1) throw unknownPath(request.path);
  const edge = segments[0] === undefined ? "" : `/${segments[0]}`;
  const query = without(request.query, "ids");
  const queryText = request.queryText
    .split("&")
    .filter((pair) => !IDS.test(pair))
    .join("&");
  const responses: Record<string, unknown> = {};
  let characters = 0;
  for (const [at, id] of [...new Set(list)].entries()) {
    if (characters > RESPONSE_CHARACTERS_MAX) {
      throw invalidParameter(
        "ids",
        `has responses of more than ${RESPONSE_CHARACTERS_MAX} characters before ${id}: ask for fewer, or for fewer fields`,
      );
    }
    // As in a batch.
    if (at > 0) await nextTurn();
    const partRequest = {
      ...request,
      header: withoutTag(request),
      method: "GET",
      path: `${version}/${id}${edge}`,
      query,
      queryText,
      body: without(request.body, "ids"),
      batchDepth: request.batchDepth + 1,
    };
    const response = await handleRequest(partRequest);
    if (response.status !== 200) return { failed: response };
    characters += response.body.length;
    responses[id] = JSON.parse(response.body);
  }
  return { response: responses };
}

const without = (parameters: Parameters, name: string): Parameters => Object.fromEntries(Object.entries(parameters).filter(([key]) => key !== name));

/** The entity tag of a request is one of its whole response: its parts have none. */
const withoutTag =
  (request: GraphRequest): GraphRequest["header"] =>
  (name) =>
    name === "if-none-match" ? undefined : request.header(name);
