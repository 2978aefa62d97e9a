/**
 * Reads multipart/form-data (RFC 7578) in chunks of any size. The multipart parser is strict: it refuses a malformed body instead of treating the
 * body as empty. The server reads request bodies of the graph, files of the control API, and recordings with this parser.
 */
import { utf8Text } from "../text.ts";

/** RFC 2046: a boundary has at most 70 characters. */
const BOUNDARY_CHARACTERS_MAX = 70;
/**
 * The greatest number of bytes of one part's headers. A Content-Type and a Content-Disposition with a percent-encoded file name of 255 characters fit
 * into the limit.
 */
const HEAD_BYTES_MAX = 4_096;
const HEAD_END = "\r\n\r\n";

interface PartHead {
  readonly name: string;
  /** The name of the file. The name is undefined if the part is not a file. */
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
  readonly byteCount: number;
}

export interface Part extends PartHead {
  /** The content of the part: a view of the bytes of the body, not a copy of them. */
  readonly content: Uint8Array;
}

/** A piece that the parser yields: first the head of a part, then the pieces of the part's content, then the end of the part. */
export type Piece = PartHead | Uint8Array | "end";

/** The error of a malformed multipart body. The error's message continues a sentence that begins with "the multipart body". */
export class MultipartProblem extends Error {}

const NO_BYTES: Uint8Array = new Uint8Array();

/** Reads all parts of a complete body. Throws `MultipartProblem` if the body is malformed. */
export function* partsOf(body: Uint8Array, contentType: string): Generator<Part> {
  const parser = new MultipartParser(contentType);
  let head: PartHead | undefined;
  let content = NO_BYTES;
  for (const piece of parser.push(body)) {
    if (piece instanceof Uint8Array) content = piece;
    else if (piece !== "end") {
      head = piece;
      content = NO_BYTES;
    } else if (head !== undefined) yield { ...head, content };
  }
  parser.end();
}

type Place = "start" | "preamble" | "delimiter" | "head" | "content" | "epilogue";

export class MultipartParser {
  /** The bytes that end a part of a multipart body. Before the first part of the body, the line break of the delimiter may be missing. */
  readonly #delimiter: Buffer;
  #rest: Uint8Array = NO_BYTES;
  #place: Place = "start";

  /** The constructor throws `MultipartProblem` if the Content-Type does not have a valid boundary. */
  constructor(contentType: string) {
    const boundary = parseMediaType(contentType).parameters.get("boundary") ?? "";
    if (boundary === "" || boundary.length > BOUNDARY_CHARACTERS_MAX) throw new MultipartProblem("has no valid boundary in its Content-Type");
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, "latin1");
  }

  /**
   * Reads the next chunk of the body, and yields the pieces of parts that are complete with this chunk. Throws `MultipartProblem` if the body is
   * malformed.
   */
  *push(chunk: Uint8Array): Generator<Piece> {
    const given = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let bytes = this.#rest.length === 0 ? given : Buffer.concat([this.#rest, given]);
    for (let place: Place | undefined = this.#place; place !== undefined; ) {
      this.#place = place;
      const { taken, piece, next } = this.#step(place, bytes);
      bytes = bytes.subarray(taken);
      if (piece !== undefined) yield piece;
      if (place === "content" && next === "delimiter") yield "end";
      place = next;
    }
    this.#rest = bytes;
  }

  /** Ends the body; the caller calls this method after the last chunk. Throws `MultipartProblem` if the body is incomplete. */
  end(): void {
    if (this.#place === "start" || this.#place === "preamble") throw new MultipartProblem("does not contain its boundary");
    if (this.#place !== "epilogue") throw new MultipartProblem("ends within a part");
  }

  /** Reads as many bytes as possible in the section `place` of the body. If `next` is undefined, the parser needs more bytes. */
  #step(place: Place, bytes: Buffer): { taken: number; piece?: Piece; next: Place | undefined } {
    const delimiter = this.#delimiter;
    switch (place) {
      case "start": {
        const opening = delimiter.subarray(2);
        if (bytes.length < opening.length) return { taken: 0, next: undefined };
        const isOpened = bytes.subarray(0, opening.length).equals(opening);
        return { taken: isOpened ? opening.length : 0, next: isOpened ? "delimiter" : "preamble" };
      }
      case "preamble":
      case "content": {
        const at = bytes.indexOf(delimiter);
        // If the chunk does not contain the delimiter, the delimiter may still begin in the chunk's last bytes, so the parser does not read these
        // bytes yet.
        const end = at === -1 ? Math.max(0, bytes.length - delimiter.length + 1) : at;
        const piece = place === "content" && end > 0 ? { piece: bytes.subarray(0, end) } : {};
        return { taken: at === -1 ? end : end + delimiter.length, ...piece, next: at === -1 ? undefined : "delimiter" };
      }
      case "delimiter": {
        let at = 0;
        if (bytes.length >= 2 && bytes[0] === 45 && bytes[1] === 45) return { taken: 2, next: "epilogue" };
        while (bytes[at] === 32 || bytes[at] === 9) at++;
        if (bytes.length < at + 2) return { taken: 0, next: undefined };
        if (bytes[at] !== 13 || bytes[at + 1] !== 10) throw new MultipartProblem("has text after a boundary");
        return { taken: at, next: "head" };
      }
      case "head":
        return this.#headIn(bytes);
      case "epilogue":
        return { taken: bytes.length, next: undefined };
    }
  }

  /**
   * Reads the head of a part. The parser reads the line break after the delimiter as the first bytes of the part's head, so that a head without
   * headers ends at once.
   */
  #headIn(bytes: Buffer): { taken: number; piece?: Piece; next: Place | undefined } {
    const end = bytes.indexOf(HEAD_END);
    if ((end === -1 ? bytes.length - HEAD_END.length + 1 : end) > HEAD_BYTES_MAX) throw new MultipartProblem("has a part with too long headers");
    // If a part has no content, the line break of its empty line may already belong to the next delimiter.
    const follows = end === -1 ? bytes : bytes.subarray(end + 2);
    if (end === -1 || follows.length < this.#delimiter.length) return { taken: 0, next: undefined };
    const isEmpty = follows.subarray(0, this.#delimiter.length).equals(this.#delimiter);
    return { taken: isEmpty ? end + 2 : end + HEAD_END.length, piece: headOf(bytes.subarray(0, end)), next: "content" };
  }
}

function headOf(bytes: Buffer): PartHead {
  const text = utf8Text(bytes);
  if (text === undefined) throw new MultipartProblem("has a part whose headers are not UTF-8");
  let disposition: MediaType | undefined;
  let contentType: string | undefined;
  for (const line of text.split("\r\n")) {
    const colon = line.indexOf(":");
    const header = line.slice(0, Math.max(colon, 0)).trim().toLowerCase();
    if (header === "content-disposition") disposition ??= parseMediaType(line.slice(colon + 1));
    else if (header === "content-type") contentType ??= line.slice(colon + 1).trim();
  }
  const name = unescaped(disposition?.parameters.get("name"));
  if (disposition?.type !== "form-data" || name === undefined) throw new MultipartProblem("has a part without a name");
  return { name, filename: unescaped(disposition.parameters.get("filename")), contentType, byteCount: bytes.length };
}

/** Decodes the three characters that browsers percent-encode in names of form fields and files (HTML: multipart/form-data encoding). */
const unescaped = (text: string | undefined): string | undefined =>
  text?.includes("%") === true ? text.replaceAll("%22", '"').replaceAll("%0D", "\r").replaceAll("%0A", "\n") : text;

/** A value of Content-Type or Content-Disposition: `type/subtype; name=value`. */
export interface MediaType {
  /** The type in lower case, without parameters. */
  readonly type: string;
  /** The parameters by name, in lower case. */
  readonly parameters: ReadonlyMap<string, string>;
}

const NO_PARAMETERS: ReadonlyMap<string, string> = new Map();

export function parseMediaType(text: string): MediaType {
  const end = text.indexOf(";");
  if (end === -1) return { type: text.trim().toLowerCase(), parameters: NO_PARAMETERS };
  const parameters = new Map<string, string>();
  const pattern = /;\s*([^\s=;]+)=(?:"((?:[^"\\]|\\.)*)"|([^;]*))/gy;
  pattern.lastIndex = end;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const name = (match[1] as string).toLowerCase();
    // Browsers write a quote in a file name as %22 or as \". The backslash of a Windows path remains in the file name.
    const value = match[2] === undefined ? (match[3] as string).trim() : match[2].replaceAll('\\"', '"').replaceAll("\\\\", "\\");
    if (!parameters.has(name)) parameters.set(name, value);
    while (pattern.lastIndex < text.length && text[pattern.lastIndex] === " ") pattern.lastIndex++;
  }
  return { type: text.slice(0, end).trim().toLowerCase(), parameters };
}
