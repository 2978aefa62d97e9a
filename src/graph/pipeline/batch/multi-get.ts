/** D-34: several requests in one. `ids=` reads many nodes; a batch runs up to 50 calls. Each runs the pipeline by itself. */
import { invalidParameter, tokenMissing, unknownPath } from "#kernel/errors";
import { parseVersion } from "#kernel/versions";
import { segmentsOf } from "../address.ts";
import type { GraphRequest, GraphResponse, Parameters } from "../request.ts";
import { runBatch } from "./batch.ts";

/** The pipeline, for a call that is part of this one. */
export type HandleRequest = (request: GraphRequest) => Promise<GraphResponse>;

/** As many as a batch holds. */
const IDS_MAX = 50;

/** Undefined when the request is neither. A batch inside a batch is refused. */
export function dispatchMany(
  handleRequest: HandleRequest,
  request: GraphRequest,
  method: string,
  hasCredential: boolean,
): Promise<unknown> | undefined {
  const batch = request.body.batch ?? request.query.batch;
  const isBatch = method === "POST" && batch !== undefined;
  const ids = method === "GET" ? (request.query.ids ?? request.body.ids) : undefined;
  if (!isBatch && ids === undefined) return undefined;
  if (request.batchDepth > 0 && isBatch) throw invalidParameter("batch", "cannot stand inside a batch");
  if (!hasCredential) throw tokenMissing("access_token");
  if (request.defect !== undefined) throw request.defect;
  return isBatch ? runBatch(handleRequest, request, batch) : readMany(handleRequest, request, ids);
}

/** An object of the responses by id; one that fails fails the request. */
async function readMany(handleRequest: HandleRequest, request: GraphRequest, ids: unknown): Promise<Record<string, unknown>> {
  const list = typeof ids === "string" ? ids.split(",").map((id) => id.trim()) : Array.isArray(ids) ? ids.map(String) : [];
  if (list.length === 0 || list.some((id) => id === "")) throw invalidParameter("ids", "must be a comma-separated list of ids");
  if (list.length > IDS_MAX) throw invalidParameter("ids", `names more than ${IDS_MAX} ids`);
  const segments = segmentsOf(request.path);
  const version = segments[0] !== undefined && parseVersion(segments[0]) !== undefined ? `/${segments.shift()}` : "";
  if (segments.length > 1) throw unknownPath(request.path);
  const edge = segments[0] === undefined ? "" : `/${segments[0]}`;
  const query = without(request.query, "ids");
  const queryText = request.queryText
    .split("&")
    .filter((pair) => !pair.startsWith("ids="))
    .join("&");
  const responses: Record<string, unknown> = {};
  for (const id of new Set(list)) {
    const partRequest = {
      ...request,
      header: withoutTag(request),
      method: "GET",
      path: `${version}/${id}${edge}`,
      query,
      queryText,
      body: without(request.body, "ids"),
    };
    const response = await handleRequest(partRequest);
    const partResponse = JSON.parse(response.body);
    if (response.status !== 200) throw new SubRequestFailed(response.status, response.headers, partResponse);
    responses[id] = partResponse;
  }
  return responses;
}

const without = (parameters: Parameters, name: string): Parameters => Object.fromEntries(Object.entries(parameters).filter(([key]) => key !== name));

/** The parts of a request are not asked for by the tag of the whole. */
const withoutTag =
  (request: GraphRequest): GraphRequest["header"] =>
  (name) =>
    name === "if-none-match" ? undefined : request.header(name);

/** Carries a part's refusal out as the response of the whole request. */
export class SubRequestFailed extends Error {
  constructor(
    readonly status: number,
    readonly headers: Record<string, string>,
    readonly response: unknown,
  ) {
    super("a part of the call failed");
  }
}
