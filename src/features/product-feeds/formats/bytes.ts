/** From a file's bytes to its text, piece by piece: unpacked when it is gzip, checked to be UTF-8, without its byte order mark. */
import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { PIECE_CHARACTERS, UNPACKED_BYTES_MAX } from "../product-feeds.limits.ts";
import { FeedFileProblem } from "./rows.ts";

export type Bytes = AsyncIterable<Uint8Array>;

/** Enough to know every mark by. */
const MARK_BYTES = 4;

/** Throws `FeedFileProblem` for what is no UTF-8 text, and whatever `file` throws. Bytes that are wrong become U+FFFD. */
export async function* textOf(file: Bytes): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8");
  let isFirst = true;
  let unpackedBytes = 0;
  for await (const bytes of fromStart(unpacked(file))) {
    if (isFirst) checkEncoding(bytes);
    isFirst = false;
    unpackedBytes += bytes.length;
    if (unpackedBytes > UNPACKED_BYTES_MAX) throw new FeedFileProblem(`the file is longer than ${UNPACKED_BYTES_MAX} bytes once it is unpacked`);
    for (let at = 0; at < bytes.length; at += PIECE_CHARACTERS) {
      const text = decoder.decode(bytes.subarray(at, at + PIECE_CHARACTERS), { stream: true });
      if (text !== "") yield text;
    }
  }
  const rest = decoder.decode();
  if (rest !== "") yield rest;
}

/** The first chunk has the bytes of a mark, unless the whole file is shorter. */
async function* fromStart(file: Bytes): AsyncGenerator<Uint8Array> {
  let start: Uint8Array | undefined = new Uint8Array(0);
  for await (const bytes of file) {
    if (start === undefined) {
      yield bytes;
      continue;
    }
    start = start.length === 0 ? bytes : Buffer.concat([start, bytes]);
    if (start.length < MARK_BYTES) continue;
    yield start;
    start = undefined;
  }
  if (start !== undefined && start.length > 0) yield start;
}

/** RFC 1952. */
const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

async function* unpacked(file: Bytes): AsyncGenerator<Uint8Array> {
  const source = fromStart(file);
  const { value: first, done } = await source.next();
  if (done === true) return;
  const whole = following(first, source);
  if (!isGzip(first)) {
    yield* whole;
    return;
  }
  const gunzip = createGunzip({ chunkSize: PIECE_CHARACTERS });
  // An error of the file ends the unpacking, and is thrown below.
  pipeline(Readable.from(whole, { objectMode: false }), gunzip, () => {});
  try {
    for await (const bytes of gunzip) yield bytes as Uint8Array;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    throw code.startsWith("Z_") ? new FeedFileProblem(`the gzip data is damaged or cut off: ${(error as Error).message}`) : error;
  }
}

async function* following(first: Uint8Array, rest: Bytes): AsyncGenerator<Uint8Array> {
  yield first;
  yield* rest;
}

/** Marks of what is not UTF-8, or looks so: text has no zero bytes, and UTF-16 without a mark has one beside each letter. */
function checkEncoding(bytes: Uint8Array): void {
  const [a, b, c, d] = bytes;
  if (isGzip(bytes)) throw new FeedFileProblem("the file is packed twice");
  const isUtf16 = (a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff) || (a === 0 && b !== 0) || (a !== 0 && b === 0 && c !== 0 && d === 0);
  if (isUtf16 || (a === 0 && b === 0)) throw new FeedFileProblem("the file is UTF-16 or UTF-32; feeds are read as UTF-8");
  if (a === 0x50 && b === 0x4b)
    throw new FeedFileProblem("the file is a ZIP archive or a spreadsheet; send CSV, TSV, RSS, Atom or JSON lines, gzip or not");
}
