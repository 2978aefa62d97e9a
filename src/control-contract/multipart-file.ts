/** Streams the file of a multipart/form-data body (RFC 7578), because a feed file may be larger than memory. */
import { MultipartParser, MultipartProblem, type Piece } from "#kernel/http-text/multipart";
import { badRequest, ControlError } from "./errors.ts";

interface MultipartFile {
  readonly file_name: string;
  /** The content of the file, which can be read only once. Reading throws a `ControlError` if the body ends before the file is complete. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** The greatest number of bytes that the form fields before the file may have. */
const BEFORE_FILE_BYTES_MAX = 65_536;

/**
 * Finds the first part of a multipart body that has a file name, and ignores the parts after it. Throws a `ControlError` if no
 * part of the body has a file name.
 */
export async function multipartFile(contentType: string, body: AsyncIterable<Uint8Array>): Promise<MultipartFile> {
  const pieces = piecesOf(contentType, body);
  let before = 0;
  for (let next = await pieces.next(); next.done !== true && before <= BEFORE_FILE_BYTES_MAX; next = await pieces.next()) {
    const piece = next.value;
    if (piece instanceof Uint8Array) before += piece.length;
    else if (piece !== "end") {
      if (piece.filename !== undefined) return { file_name: piece.filename, bytes: contentOf(pieces) };
      before += piece.byteCount;
    }
  }
  throw badRequest("the multipart body has no file");
}

async function* piecesOf(contentType: string, body: AsyncIterable<Uint8Array>): AsyncGenerator<Piece> {
  try {
    const parser = new MultipartParser(contentType);
    for await (const chunk of body) yield* parser.push(chunk);
    parser.end();
  } catch (error) {
    throw error instanceof MultipartProblem ? badRequest(`the multipart body ${error.message}`) : error;
  }
}

async function* contentOf(pieces: AsyncIterator<Piece>): AsyncGenerator<Uint8Array> {
  for (let next = await pieces.next(); next.done !== true && next.value instanceof Uint8Array; next = await pieces.next()) yield next.value;
}

/** Yields the pieces of a request body when they arrive. Throws as soon as the body exceeds the limit. */
export async function* bodyPieces(request: Request, bytesMax: number): AsyncGenerator<Uint8Array> {
  const tooLarge = () => new ControlError("body_too_large", `the body is larger than ${bytesMax} bytes`);
  if (Number(request.headers.get("content-length") ?? 0) > bytesMax) throw tooLarge();
  let length = 0;
  for await (const piece of request.body ?? []) {
    length += piece.length;
    if (length > bytesMax) throw tooLarge();
    yield piece;
  }
}

/** Reads a whole request body into memory. Throws as soon as the body exceeds the limit. */
export async function bodyBytes(request: Request, bytesMax: number): Promise<Uint8Array> {
  const pieces = await Array.fromAsync(bodyPieces(request, bytesMax));
  return pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces);
}
