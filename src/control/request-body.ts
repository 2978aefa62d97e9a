/** Reads the bodies of requests to the control API. Nothing can interrupt `JSON.parse`, so only small bodies are read at once (D-338). */
import { badRequest, ControlError } from "#control-contract/errors";
import { bodyPieces } from "#control-contract/multipart-file";
import type { ControlRoute } from "#control-contract/route";
import { boundJson } from "#graph/response/json";
import { entryReader } from "#graph/worlds/file/entry-reader";
import { InexactNumber, parseExactJson } from "#kernel/json/exact-json";
import { LongJson, type Span } from "#kernel/json/long-json";

/** The size of a JSON body, for a node with its longest list: a page with 10,000 people is some 600 kB. 2 MB of escapes take 20 ms (measured). */
const JSON_BYTES_MAX = 2 * 1024 * 1024;
/** The size of a JSON body with a world file in it. A larger file is loaded by a request of its own. */
const BODY_WITH_FILE_BYTES_MAX = 16 * 1024 * 1024;
/** The size of a form, which may come without a control key. */
const FORM_BYTES_MAX = 16_384;
/** The size of a world file, which allows some millions of labels. */
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
 * Reads an object whose member `fileMember` is a world file: text, or an object. The file is returned as text, because files are read part by part;
 * the other members are read at once.
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
    // The depth of a world file is limited when the file is read.
    for await (const { name, ...span } of json.members(Number.POSITIVE_INFINITY)) {
      // The schema refuses unknown members, but only at the end.
      if (members.length === MEMBERS_MAX) throw badRequest(`the body has more than ${MEMBERS_MAX} members`);
      members.push([name, await read(name, span)]);
    }
  } catch (error) {
    throw refusalOf(error);
  }
  return Object.fromEntries(members);
}

/** This is a greater number of members than any route has. */
const MEMBERS_MAX = 100;

/** Decodes the body while it arrives. */
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
