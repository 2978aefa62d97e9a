/**
 * D-34: reads parameters and files from a body of any accepted type. An error in the body becomes the `defect` of the request, and the pipeline
 * throws it later.
 */
import { GraphError, invalidParameter, malformedRequest } from "#kernel/errors";
import { type MediaType, MultipartProblem, parseMediaType, partsOf } from "#kernel/http-text/multipart";
import { utf8Text } from "#kernel/text";
import { JsonNumber, type Parameters, type UploadedFile } from "../pipeline/request.ts";
import { parseJson } from "../response/json.ts";
import { NO_PARAMETERS, parametersOf, parsePairs } from "./pairs.ts";
import { ParameterTree } from "./parameter-tree.ts";

export interface ParsedBody {
  readonly parameters: Parameters;
  readonly files: ReadonlyMap<string, UploadedFile>;
  readonly defect: GraphError | undefined;
  /** The request body as received, for the request log. The text of the request body is empty if the body is not text. */
  readonly text: string;
}

const NO_FILES: ReadonlyMap<string, UploadedFile> = new Map();
export const NO_BODY: ParsedBody = { parameters: NO_PARAMETERS, files: NO_FILES, defect: undefined, text: "" };

export const defectiveBody = (defect: GraphError, text = ""): ParsedBody => ({ parameters: NO_PARAMETERS, files: NO_FILES, defect, text });

const notUtf8 = (): ParsedBody => defectiveBody(malformedRequest("The request body is not valid UTF-8"));

/** Reads the body of a request of a batch in the same way as the body of a request over HTTP. */
export const parseBodyText = (text: string, contentType: string | undefined): ParsedBody =>
  // UTF-8 cannot encode a text with a lone surrogate.
  text.isWellFormed() ? parseBody(Buffer.from(text), contentType) : notUtf8();

export function parseBody(bytes: Uint8Array, contentType: string | undefined, countMax?: number): ParsedBody {
  if (bytes.length === 0) return NO_BODY;
  const media = contentType === undefined || contentType === "" ? undefined : parseMediaType(contentType);
  if ((isForm(media?.type) || media?.type === MULTIPART) && startsAsJson(bytes)) return defectiveBody(jsonAsForm(media), utf8Text(bytes));
  if (media?.type === MULTIPART) return multipartBody(bytes, contentType as string, countMax);
  const charset = media?.parameters.get("charset")?.toLowerCase();
  if (charset !== undefined && charset !== "utf-8" && charset !== "utf8" && charset !== "us-ascii")
    return defectiveBody(malformedRequest(`The request body's charset ${charset} is not supported; send UTF-8`));
  const text = utf8Text(bytes);
  if (text === undefined) return isMeant(media?.type) ? notUtf8() : defectiveBody(unsupported(media));
  switch (kindOf(text, media?.type)) {
    case "json":
      return jsonBody(text, countMax);
    case "form":
      return { ...parsePairs(withoutLastLineBreak(text), "The request body", countMax), files: NO_FILES, text };
    case "unknown":
      return defectiveBody(unsupported(media), text);
  }
}

const MULTIPART = "multipart/form-data";
/**
 * The greatest number of parts in a multipart body. D-337: reading a part of a multipart body takes 5 µs, whatever the size of the part. The limit
 * for multipart parts is twice the limit for parameters, so that a body with a few parameters too many gets the error about parameters.
 */
const PARTS_MAX = 2_000;
const isForm = (type: string | undefined): boolean => type === "application/x-www-form-urlencoded";
const isJson = (type: string | undefined): boolean => type === "application/json" || type?.endsWith("+json") === true;
const isMeant = (type: string | undefined): boolean => type === undefined || isForm(type) || isJson(type);

const unsupported = (media: MediaType | undefined): GraphError =>
  malformedRequest(`The Content-Type ${media?.type} is not supported; send application/json, a form or multipart/form-data`);

const jsonAsForm = (media: MediaType | undefined): GraphError =>
  malformedRequest(`The request body is JSON, but its Content-Type is ${media?.type}; send it as application/json`);

/**
 * Whether the request body begins like JSON. If JSON were read as a form, the whole text would become the name of one parameter. The names of the
 * interface's parameters do not begin with a bracket, as JSON does.
 */
function startsAsJson(bytes: Uint8Array): boolean {
  // There may be a byte order mark and blanks before the JSON.
  let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  while (bytes[at] === 32 || bytes[at] === 9 || bytes[at] === 10 || bytes[at] === 13) at++;
  return bytes[at] === 123 || bytes[at] === 91;
}

/** Removes the line break at the end of the text, because a form that a client sends from a file ends with a line break. */
function withoutLastLineBreak(text: string): string {
  let end = text.length;
  if (text.charCodeAt(end - 1) === 10) end--;
  if (text.charCodeAt(end - 1) === 13) end--;
  return text.slice(0, end);
}

/**
 * Decides whether a body is JSON or a form. Without a Content-Type, or with a type that the interface does not use, the first character of the body
 * decides between JSON and a form.
 */
export function kindOf(text: string, type: string | undefined): "json" | "form" | "unknown" {
  if (isForm(type)) return "form";
  if (isJson(type)) return "json";
  const first = text.trimStart().charCodeAt(0);
  if (first === 123 || first === 91) return "json";
  return type === undefined || /^[^\s=]+=\S*\s*$/.test(text) ? "form" : "unknown";
}

function jsonBody(text: string, countMax?: number): ParsedBody {
  if (text.trim() === "") return NO_BODY;
  try {
    const value = parseJson(text, "The request body");
    if (typeof value !== "object" || value === null || Array.isArray(value) || value instanceof JsonNumber)
      return defectiveBody(malformedRequest("The request body must be a JSON object"), text);
    return { ...parametersOf(value as Record<string, unknown>, countMax), files: NO_FILES, text };
  } catch (error) {
    if (error instanceof GraphError) return defectiveBody(error, text);
    throw error;
  }
}

/**
 * Reads a multipart body. Parts with a file name become files, and all other parts become parameters. If two files have the same name, the later file
 * counts.
 */
function multipartBody(bytes: Uint8Array, contentType: string, countMax?: number): ParsedBody {
  const tree = new ParameterTree(countMax);
  const files = new Map<string, UploadedFile>();
  const text = `(multipart/form-data, ${bytes.length} bytes)`;
  let malformed: GraphError | undefined;
  let count = 0;
  try {
    for (const { name, filename, contentType: type = "application/octet-stream", content } of partsOf(bytes, contentType)) {
      if (++count > PARTS_MAX) throw new MultipartProblem(`has more than ${PARTS_MAX} parts`);
      if (!tree.hasCapacityFor(name)) continue;
      const value = filename === undefined ? utf8Text(content) : undefined;
      if (filename !== undefined) files.set(name, { filename, contentType: type, bytes: content });
      else if (value !== undefined) tree.add(name, value);
      else malformed ??= invalidParameter(name, "is not UTF-8");
    }
  } catch (error) {
    if (!(error instanceof MultipartProblem)) throw error;
    malformed = malformedRequest(`The multipart body ${error.message}`);
  }
  return { parameters: tree.parameters(), files, defect: malformed ?? tree.defect, text };
}
