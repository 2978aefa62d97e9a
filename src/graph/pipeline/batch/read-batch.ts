/** Reads all requests of a batch (D-34) before the first of them is run. */
import { type GraphError, invalidParameter } from "#kernel/errors";
import type { RawHeaders } from "#kernel/http-text/headers";
import { parseJsonParameter } from "../../response/json.ts";
import { isYes, textsOf } from "../parameters.ts";
import type { GraphRequest } from "../request.ts";
import { bodyNotation, referencesIn } from "./references.ts";

const REQUESTS_MAX = 50;

export interface BatchRequest {
  readonly method: string;
  readonly relative_url: string;
  readonly headers: RawHeaders;
  readonly body: string;
  readonly name: string | undefined;
  /** The names of the batch's files that this request uses. */
  readonly attachedFiles: readonly string[];
  /** The names of requests that must succeed first, from `depends_on` and references. */
  readonly needs: readonly string[];
  /**
   * Whether the batch's response leaves out this request's response if it is successful. Undefined means that the response is left out if another
   * request refers to it.
   */
  readonly omitOnSuccess: boolean | undefined;
}

/** Reads the requests of a batch. Throws `invalidParameter`, whose message names the wrong request and its wrong key. */
export function readBatch(given: unknown, files: GraphRequest["files"]): BatchRequest[] {
  const list = typeof given === "string" ? parseJsonParameter(given, "batch") : given;
  if (!Array.isArray(list) || list.length === 0) throw invalidParameter("batch", "must be a list of requests");
  if (list.length > REQUESTS_MAX) throw invalidParameter("batch", `holds more than ${REQUESTS_MAX} requests`);
  const requests = list.map(readRequest);
  const names = requests.map(({ name }) => name).filter((name) => name !== undefined);
  if (new Set(names).size < names.length) throw invalidParameter("batch", "has two requests with the same name");
  requests.forEach(({ needs, attachedFiles }, index) => {
    const missing = attachedFiles.find((file) => !files.has(file));
    if (missing !== undefined) throw invalidParameter(`batch[${index}].attached_files`, `names ${missing}, but the batch has no such file`);
    const earlier = requests.slice(0, index).map(({ name }) => name);
    const stranger = needs.find((name) => !earlier.includes(name));
    if (stranger !== undefined) throw invalidParameter(`batch[${index}]`, `refers to ${stranger}, which is not an earlier request`);
  });
  return requests;
}

type Wrong = (key: string, problem: string) => GraphError;

function readRequest(given: unknown, index: number): BatchRequest {
  const wrong: Wrong = (key, problem) => invalidParameter(`batch[${index}]${key}`, problem);
  if (typeof given !== "object" || given === null || Array.isArray(given)) throw wrong("", "must be an object");
  const {
    method = "GET",
    relative_url,
    body = "",
    headers = [],
    name,
    depends_on = [],
    attached_files,
    omit_response_on_success,
  } = given as Record<string, unknown>;
  if (typeof method !== "string") throw wrong(".method", "must be a string");
  if (typeof relative_url !== "string") throw wrong(".relative_url", "is required");
  if (typeof body !== "string" && (typeof body !== "object" || body === null)) throw wrong(".body", "must be a string");
  if (name !== undefined && (typeof name !== "string" || name === "")) throw wrong(".name", "must be a string");
  const dependsOn: unknown[] = Array.isArray(depends_on) ? depends_on : [depends_on];
  if (!dependsOn.every((one) => typeof one === "string")) throw wrong(".depends_on", "must name requests");
  const isList = typeof attached_files === "string" || Array.isArray(attached_files);
  const attachedFiles = isList ? textsOf(attached_files, `batch[${index}].attached_files`) : attached_files === undefined ? [] : undefined;
  if (attachedFiles === undefined) throw wrong(".attached_files", "must name files of the batch, separated by commas");
  const request = { method: method.toUpperCase(), relative_url, headers: readHeaders(headers, wrong), name };
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return {
    ...request,
    attachedFiles,
    body: text,
    needs: [...dependsOn, ...referencesIn(relative_url, "address"), ...referencesIn(text, bodyNotation(text, request.headers))],
    omitOnSuccess: omit_response_on_success === undefined ? undefined : isYes(omit_response_on_success),
  };
}

/** A header line (RFC 9110): a token, a colon, and a value without control characters, as bytes. */
const HEADER = /^([!#$%&'*+.^`|~\w-]+):([\t -~\u00a0-\u00ff]*)$/;

/** The headers that a request inside a batch cannot set, because they describe the connection or the body of the whole batch. */
const OF_THE_BATCH = new Set([
  ...["host", "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "expect"],
  ...["content-length", "content-encoding", "forwarded", "x-forwarded-host", "x-forwarded-proto"],
]);

/** Reads headers from a list of lines, or from an object of names and values. */
function readHeaders(given: unknown, wrong: Wrong): RawHeaders {
  if (typeof given !== "object" || given === null) throw wrong(".headers", "must be a list of headers, or an object");
  const lines = Array.isArray(given)
    ? given
    : Object.entries(given).map(([name, value]) => (typeof value === "string" ? `${name}: ${value}` : value));
  return lines.flatMap((line: unknown) => {
    const [, name, value] = (typeof line === "string" ? HEADER.exec(line) : null) ?? [];
    if (name === undefined || value === undefined) throw wrong(".headers", "must hold headers such as If-None-Match: *");
    if (OF_THE_BATCH.has(name.toLowerCase())) throw wrong(".headers", `holds ${name}, which a request inside a batch cannot set`);
    return [name, value.trim()];
  });
}
