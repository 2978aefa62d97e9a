/** The file of a multipart/form-data body (RFC 7578), as it comes: a feed file may be larger than memory. */
import { badRequest, ControlError } from "./errors.ts";

interface MultipartFile {
  readonly file_name: string;
  /** To be read once, to its end. Throws a `ControlError` when the body ends before the file does. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** RFC 2046: a boundary has at most 70 characters. */
const BOUNDARY = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;]{1,70}))/i;
/** Of one part: a disposition with a long file name, and a type. */
const HEAD_BYTES_MAX = 4_096;
/** What may stand before the file: fields of a form. */
const BEFORE_FILE_BYTES_MAX = 65_536;
const DISPOSITION = /^content-disposition:(.*)$/im;
const FILE_NAME = /;\s*filename="((?:[^"\\]|\\.)*)"/i;

/** The first part that has a file name; parts behind it are not looked at. Throws a `ControlError` where there is none. */
export async function multipartFile(contentType: string, body: AsyncIterable<Uint8Array>): Promise<MultipartFile> {
  const match = BOUNDARY.exec(contentType);
  const boundary = match?.[1] ?? match?.[2];
  if (boundary === undefined) throw badRequest("the multipart body's Content-Type has no boundary");
  const source = new Source(body);
  const delimiter = Buffer.from(`\r\n--${boundary}`, "latin1");
  // The first boundary may open the body, so it is searched for as if a line break stood before it.
  source.unread(Buffer.from("\r\n"));
  for (let before = 0; before <= BEFORE_FILE_BYTES_MAX; ) {
    for await (const skipped of until(source, delimiter)) before += skipped.length;
    const head = await headOf(source);
    if (head === undefined) break;
    before += head.length;
    const name = FILE_NAME.exec(DISPOSITION.exec(head)?.[1] ?? "")?.[1];
    if (name !== undefined) return { file_name: name.replaceAll(/\\(.)/g, "$1"), bytes: until(source, delimiter) };
    // The delimiter of a part without content begins with the line break that ends its head.
    source.unread(Buffer.from("\r\n"));
  }
  throw badRequest("the multipart body holds no file");
}

/** Bytes that come in chunks, of which some may be given back. */
class Source {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(body: AsyncIterable<Uint8Array>) {
    this.#chunks = body[Symbol.asyncIterator]();
  }

  unread(bytes: Buffer): void {
    this.#rest = Buffer.concat([bytes, this.#rest]);
  }

  /** All that is there, and one more chunk. Throws when the body has ended. */
  async more(): Promise<Buffer> {
    const { value, done } = await this.#chunks.next();
    if (done === true) throw badRequest("the multipart body ends within a part");
    const all = this.#rest.length === 0 ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : Buffer.concat([this.#rest, value]);
    this.#rest = Buffer.alloc(0);
    return all;
  }

  take(): Buffer {
    const taken = this.#rest;
    this.#rest = Buffer.alloc(0);
    return taken;
  }
}

/** What stands before the delimiter; the source then goes on behind it. */
async function* until(source: Source, delimiter: Buffer): AsyncGenerator<Buffer> {
  let bytes = source.take();
  for (;;) {
    const at = bytes.indexOf(delimiter);
    if (at !== -1) {
      if (at > 0) yield bytes.subarray(0, at);
      source.unread(bytes.subarray(at + delimiter.length));
      return;
    }
    // The delimiter may be cut in two by the end of the chunk.
    const sure = Math.max(0, bytes.length - delimiter.length + 1);
    if (sure > 0) yield bytes.subarray(0, sure);
    source.unread(bytes.subarray(sure));
    bytes = await source.more();
  }
}

/** A part's headers; undefined behind the last boundary. */
async function headOf(source: Source): Promise<string | undefined> {
  let bytes = source.take();
  for (;;) {
    if (bytes.length >= 2 && bytes[0] === 45 && bytes[1] === 45) return undefined;
    const end = bytes.indexOf("\r\n\r\n");
    if (end !== -1) {
      source.unread(bytes.subarray(end + 4));
      return bytes.toString("utf8", 0, end);
    }
    if (bytes.length > HEAD_BYTES_MAX) throw badRequest("the multipart body has a part with too long headers");
    source.unread(bytes);
    bytes = await source.more();
  }
}

/** The bytes of a body that has to be held as a whole, read no farther than they may go. */
export async function bodyBytes(request: Request, bytesMax: number): Promise<Uint8Array> {
  const tooLarge = () => new ControlError("body_too_large", `the body is larger than ${bytesMax} bytes`);
  if (Number(request.headers.get("content-length") ?? 0) > bytesMax) throw tooLarge();
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of request.body ?? []) {
    length += part.length;
    if (length > bytesMax) throw tooLarge();
    parts.push(part);
  }
  return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts);
}
