/** Reads the bodies of requests to the control API. Because `JSON.parse` blocks the process, only small bodies are parsed at once (D-338). */
import { badRequest, ControlError } from "#control-contract/errors";
import { bodyPieces } from "#control-contract/multipart-file";
import type { ControlRoute } from "#control-contract/route";
import { boundJson } from "#graph/response/json";
import { entryReader } from "#graph/worlds/file/entry-reader";
import { InexactNumber, parseExactJson } from "#kernel/json/exact-json";
import { LongJson, type Span } from "#kernel/json/long-json";

/**
 * The greatest size of a JSON body. The limit is enough for the largest node, a page with 10,000 people, which has some 600 kB. Parsing a JSON
 * text of 2 MB that consists of escapes takes 20 ms (measured).
 */
const JSON_BYTES_MAX = 2 * 1024 * 1024;
/** The greatest size of a JSON body that contains a world file. A world file that is larger than this limit is loaded by a separate request. */
const BODY_WITH_FILE_BYTES_MAX = 16 * 1024 * 1024;
/** The greatest size of a form. The limit for forms is low, because some requests with forms need no control key. */
const FORM_BYTES_MAX = 16_384;
/** The greatest size of a world file, enough for some millions of labels. */
const WORLD_FILE_BYTES_MAX = 256 * 1024 * 1024;

export async function readBody({ body, fileMember }: ControlRoute, request: Request): Promise<unknown> {
  if (body === undefined) return undefined;
  if (body === "file") return request;
  if (body === "text") return textOf(request, WORLD_FILE_BYTES_MAX);
  if (body === "form") return textOf(request, FORM_BYTES_MAX);
  const value = fileMember === undefined ? await readJson(request) : await withFile(await textOf(request, BODY_WITH_FILE_BYTES_MAX), fileMember);
  return body === "entry" ? value : entryReader(body)(value);
}

/** Reads a JSON body without a world file. Throws a `ControlError` if the body is longer than 2 MB, or if it is not valid JSON. */
export const readJson = async (request: Request): Promise<unknown> => jsonOf(await textOf(request, JSON_BYTES_MAX));

function jsonOf(text: string): unknown {
  boundJson(text, (problem) => badRequest(`the body ${problem}`));
  try {
    return parseExactJson(text);
  } catch (error) {
    throw refusalOf(error);
  }
}

const refusalOf = (error: unknown): unknown => {
  if (error instanceof InexactNumber) return badRequest(error.message, error.key);
  return error instanceof SyntaxError ? badRequest("the body is not valid JSON") : error;
};

/**
 * Reads an object whose member `fileMember` is a world file, as text or as an object. The world file is returned as text, because its reader
 * parses the text piece by piece; the other members are parsed at once.
 */
async function withFile(text: string, fileMember: string): Promise<unknown> {
  const json = new LongJson(text);
  const members: [string, unknown][] = [];
  const read = async (name: string, span: Span): Promise<unknown> => {
    if (name === fileMember && json.isString(span)) return json.value(span);
    if (name === fileMember && json.isObject(span)) return text.slice(span.start, span.end);
    if (span.end - span.start > JSON_BYTES_MAX) throw new ControlError("body_too_large", `${name} is larger than ${JSON_BYTES_MAX} bytes`, name);
    return jsonOf(text.slice(span.start, span.end));
  };
  try {
    // The depth of the JSON is not limited here, because the reader of world files limits it.
    for await (const { name, ...span } of json.members(Number.POSITIVE_INFINITY)) {
      // The number of the body's members is limited here, because the schema refuses unknown members only after all members are read.
      if (members.length === MEMBERS_MAX) throw badRequest(`the body has more than ${MEMBERS_MAX} members`);
      members.push([name, await read(name, span)]);
    }
  } catch (error) {
    throw refusalOf(error);
  }
  return Object.fromEntries(members);
}

/** The greatest number of members of a JSON request body. No route has a request body with as many members as this limit. */
const MEMBERS_MAX = 100;

/** Decodes the body of a request while its bytes arrive. */
async function textOf(request: Request, bytesMax: number): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const texts: string[] = [];
  const decode = (bytes?: Uint8Array): void => {
    try {
      texts.push(bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true }));
    } catch {
      throw badRequest("the body is not valid UTF-8");
    }
  };
  for await (const piece of bodyPieces(request, bytesMax)) decode(piece);
  decode();
  return texts.join("");
}
