/** D-34: a batch of up to 50 requests, with `depends_on`, names, and JSONPath references to earlier responses. */
import { GraphError, invalidParameter } from "#kernel/errors";
import { nextTurn } from "#kernel/turns";
import { parseVersion } from "#kernel/versions";
import { parseJson, parseJsonParameter } from "../../response/json.ts";
import { segmentsOf } from "../address.ts";
import { tokensOf, withTokens } from "../authenticate.ts";
import { isNo, isYes } from "../parameters.ts";
import type { GraphRequest, GraphResponse, HandleRequest, Parameters } from "../request.ts";
import { References, referencesIn } from "./references.ts";

const REQUESTS_MAX = 50;
/** D-39: of the responses together, also of those to `ids=`; 50 lists of 100 nodes with 1,600 characters each. */
export const RESPONSE_CHARACTERS_MAX = 8_388_608;

interface BatchRequest {
  readonly method: string;
  readonly relative_url: string;
  readonly body: string | undefined;
  readonly name: string | undefined;
  /** By `depends_on` and by references. */
  readonly needs: readonly string[];
  /** Undefined: omitted when another request refers to it. */
  readonly omitOnSuccess: boolean | undefined;
}

interface BatchResponse {
  readonly code: number;
  readonly headers?: readonly { name: string; value: string }[];
  readonly body: string;
}

/**
 * Null stands for a request without a response of its own: it succeeded and others only needed its result, or one that it depends on failed.
 * `refuse` renders what keeps a request from being run.
 */
export async function runBatch(
  handleRequest: HandleRequest,
  request: GraphRequest,
  given: unknown,
  refuse: (error: GraphError) => GraphResponse,
): Promise<(BatchResponse | null)[]> {
  const parts = readParts(given);
  const hasHeaders = !isNo(request.body.include_headers ?? request.query.include_headers);
  const referred = new Set(parts.flatMap(({ needs }) => needs));
  const results = new Map<string, GraphResponse>();
  const references = new References(results);
  const responses: (BatchResponse | null)[] = [];
  let characters = 0;
  for (const [at, part] of parts.entries()) {
    // A batch takes as long as its requests together: others are served in between.
    if (at > 0) await nextTurn();
    const isBlocked = part.needs.some((name) => results.get(name)?.status !== 200);
    const response = isBlocked ? undefined : await run(part);
    characters += response?.body.length ?? 0;
    if (response !== undefined && part.name !== undefined) results.set(part.name, response);
    const isOmitted = response?.status === 200 && (part.omitOnSuccess ?? (part.name !== undefined && referred.has(part.name)));
    responses.push(response === undefined || isOmitted ? null : responseOf(response, hasHeaders));
  }
  return responses;

  async function run(part: BatchRequest): Promise<GraphResponse> {
    try {
      if (characters > RESPONSE_CHARACTERS_MAX) {
        throw invalidParameter("batch", `has responses of more than ${RESPONSE_CHARACTERS_MAX} characters before this request, which was not run`);
      }
      return await handleRequest(requestFor(part, request, references));
    } catch (error) {
      if (error instanceof GraphError) return refuse(error);
      throw error;
    }
  }
}

function responseOf({ status, headers, body }: GraphResponse, hasHeaders: boolean): BatchResponse {
  if (!hasHeaders) return { code: status, body };
  return { code: status, headers: Object.entries(headers).map(([name, value]) => ({ name, value })), body };
}

function readParts(given: unknown): BatchRequest[] {
  const list = typeof given === "string" ? parseJsonParameter(given, "batch") : given;
  if (!Array.isArray(list) || list.length === 0) throw invalidParameter("batch", "must be a list of requests");
  if (list.length > REQUESTS_MAX) throw invalidParameter("batch", `holds more than ${REQUESTS_MAX} requests`);
  const parts = list.map(readPart);
  const names = parts.map(({ name }) => name).filter((name) => name !== undefined);
  if (new Set(names).size < names.length) throw invalidParameter("batch", "gives one name to two requests");
  parts.forEach((part, index) => {
    const earlier = parts.slice(0, index).map(({ name }) => name);
    const stranger = part.needs.find((name) => !earlier.includes(name));
    if (stranger !== undefined) throw invalidParameter(`batch[${index}]`, `refers to ${stranger}, which is no earlier request`);
  });
  return parts;
}

function readPart(given: unknown, index: number): BatchRequest {
  const wrong = (key: string, problem: string) => invalidParameter(`batch[${index}]${key}`, problem);
  if (typeof given !== "object" || given === null || Array.isArray(given)) throw wrong("", "must be an object");
  const { method = "GET", relative_url, body, name, depends_on, omit_response_on_success } = given as Record<string, unknown>;
  if (typeof method !== "string") throw wrong(".method", "must be a string");
  if (typeof relative_url !== "string") throw wrong(".relative_url", "is required");
  if (body !== undefined && typeof body !== "string" && (typeof body !== "object" || body === null)) throw wrong(".body", "must be a string");
  if (name !== undefined && (typeof name !== "string" || name === "")) throw wrong(".name", "must be a string");
  const dependsOn = depends_on === undefined ? [] : Array.isArray(depends_on) ? depends_on : [depends_on];
  if (dependsOn.some((one) => typeof one !== "string")) throw wrong(".depends_on", "must name requests");
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  return {
    method: method.toUpperCase(),
    relative_url,
    body: text,
    name: name as string | undefined,
    needs: [...(dependsOn as string[]), ...referencesIn(`${relative_url} ${text ?? ""}`)],
    omitOnSuccess: omit_response_on_success === undefined ? undefined : isYes(omit_response_on_success),
  };
}

/** The part as a request of its own; the tokens of the batch serve where it brings none. */
function requestFor(part: BatchRequest, batch: GraphRequest, references: References): GraphRequest {
  const address = references.address(part.relative_url);
  const mark = address.indexOf("?");
  const path = mark === -1 ? address : address.slice(0, mark);
  const queryText = mark === -1 ? "" : address.slice(mark + 1);
  const own = formOf(queryText);
  const text = part.body ?? "";
  const isJson = text.trimStart().startsWith("{") && !text.trimStart().startsWith("{result=");
  const resolved = references.body(text, isJson);
  const body = isJson ? (parseJson(resolved, "A batch body") as Parameters) : formOf(resolved);
  const bringsToken = own.access_token !== undefined || own.oauth_token !== undefined || body.access_token !== undefined;
  return {
    ...batch,
    method: part.method,
    path: versionedPath(path, batch.path),
    queryText: bringsToken ? queryText : withTokens(queryText, tokensOf(batch.query)),
    query: bringsToken ? own : { ...tokensOf(batch.query), ...own },
    body: bringsToken ? body : { ...tokensOf(batch.body), ...body },
    files: batch.files,
    header: (name) => (name === "if-none-match" || (bringsToken && name === "authorization") ? undefined : batch.header(name)),
    batchDepth: batch.batchDepth + 1,
  };
}

/** A request without a version has the version that the batch was sent to. */
function versionedPath(path: string, batchPath: string): string {
  const [first] = segmentsOf(batchPath);
  const rooted = path.startsWith("/") ? path : `/${path}`;
  const own = segmentsOf(rooted)[0];
  const isVersioned = own !== undefined && parseVersion(own) !== undefined;
  return isVersioned || first === undefined || parseVersion(first) === undefined ? rooted : `/${first}${rooted}`;
}

const formOf = (text: string): Record<string, unknown> => Object.fromEntries(new URLSearchParams(text));
