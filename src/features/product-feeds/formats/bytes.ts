/** Converts the bytes of a feed file to text, piece by piece. Unpacks gzip, refuses encodings other than UTF-8, and removes the byte order mark. */
import { isUtf8 } from "node:buffer";
import { pipeline, Readable } from "node:stream";
import { constants, createGunzip, inflateRawSync } from "node:zlib";
import { PIECE_CHARACTERS, UNPACKED_BYTES_MAX, UNPACKED_FREELY_BYTES, UNPACKED_RATIO_MAX } from "../product-feeds.limits.ts";
import { FeedFileProblem } from "./rows.ts";

export type Bytes = AsyncIterable<Uint8Array>;

/** The length of the longest byte order mark or file signature. */
const MARK_BYTES = 4;
/**
 * The number of bytes by which deflate data without a signature are recognized. If a file does not contain deflate data, unpacking its first bytes
 * fails within this number of bytes.
 */
const START_BYTES = 1_024;

/**
 * Yields the text of a file. Throws `FeedFileProblem` if the file is not UTF-8 text, and passes on the errors of `file`. Invalid bytes become U+FFFD
 * (D-141).
 */
export async function* textOf(file: Bytes): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8");
  let isFirst = true;
  let unpackedBytes = 0;
  for await (const bytes of fromStart(unpacked(file))) {
    if (isFirst) checkEncoding(bytes);
    isFirst = false;
    unpackedBytes += bytes.length;
    if (unpackedBytes > UNPACKED_BYTES_MAX) throw new FeedFileProblem(`the unpacked file is larger than ${UNPACKED_BYTES_MAX} bytes`);
    for (let at = 0; at < bytes.length; at += PIECE_CHARACTERS) {
      const text = decoder.decode(bytes.subarray(at, at + PIECE_CHARACTERS), { stream: true });
      if (text !== "") yield text;
    }
  }
  const rest = decoder.decode();
  if (rest !== "") yield rest;
}

/**
 * Joins the first chunks of a file until they have `START_BYTES` bytes, or until the file ends. All chunks after the first `START_BYTES` bytes are
 * passed on unchanged.
 */
async function* fromStart(file: Bytes): AsyncGenerator<Uint8Array> {
  let start: Uint8Array | undefined = new Uint8Array(0);
  for await (const bytes of file) {
    if (start === undefined) {
      yield bytes;
      continue;
    }
    start = start.length === 0 ? bytes : Buffer.concat([start, bytes]);
    if (start.length < START_BYTES) continue;
    yield start;
    start = undefined;
  }
  if (start !== undefined && start.length > 0) yield start;
}

/** Returns whether the bytes begin with the signature of gzip (RFC 1952). */
const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

/**
 * The first bytes of files with other compressions, in latin1. A deflate file begins with a zlib header (RFC 1950), which depends on the compression
 * level.
 */
const OTHER_COMPRESSIONS = {
  bzip2: ["BZh"],
  deflate: ["x\u0001", "x^", "x\u009c", "x\u00da"],
  xz: ["\u00fd7zX"],
  zstd: ["(\u00b5/\u00fd"],
  "7-Zip": ["7z\u00bc\u00af"],
};

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
  let packedBytes = 0;
  let unpackedBytes = 0;
  const counted = counting(whole, (bytes) => {
    packedBytes += bytes;
  });
  // If reading the file fails, the pipeline passes the error to `gunzip`, and the loop below throws the error.
  pipeline(Readable.from(counted, { objectMode: false }), gunzip, () => {});
  try {
    for await (const bytes of gunzip as AsyncIterable<Uint8Array>) {
      unpackedBytes += bytes.length;
      if (unpackedBytes > UNPACKED_FREELY_BYTES && unpackedBytes > UNPACKED_RATIO_MAX * packedBytes)
        throw new FeedFileProblem(`the file unpacks to more than ${UNPACKED_RATIO_MAX} times its size`);
      yield bytes;
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    throw code.startsWith("Z_") ? new FeedFileProblem(`the gzip data is damaged or truncated: ${(error as Error).message}`) : error;
  }
}

async function* counting(file: Bytes, count: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  for await (const bytes of file) {
    count(bytes.length);
    yield bytes;
  }
}

async function* following(first: Uint8Array, rest: Bytes): AsyncGenerator<Uint8Array> {
  yield first;
  yield* rest;
}

/**
 * Throws if a file is compressed or has another encoding than UTF-8. UTF-8 text has no zero bytes; UTF-16 without a byte order mark has a zero byte
 * beside each Latin letter.
 */
function checkEncoding(bytes: Uint8Array): void {
  const [a, b, c, d] = bytes;
  const beginning = Buffer.from(bytes.subarray(0, MARK_BYTES)).toString("latin1");
  for (const [name, marks] of Object.entries(OTHER_COMPRESSIONS))
    if (marks.some((mark) => beginning.startsWith(mark))) throw new FeedFileProblem(`the file is compressed with ${name}; only gzip is unpacked`);
  if (isRawDeflate(bytes)) throw new FeedFileProblem("the file is compressed with deflate; only gzip is unpacked");
  if (isGzip(bytes)) throw new FeedFileProblem("the file is compressed twice");
  const isUtf16 = (a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff) || (a === 0 && b !== 0) || (a !== 0 && b === 0 && c !== 0 && d === 0);
  if (isUtf16 || (a === 0 && b === 0)) throw new FeedFileProblem("the file is UTF-16 or UTF-32; feeds must be UTF-8");
  if (a === 0x50 && b === 0x4b)
    throw new FeedFileProblem("the file is a ZIP archive or a spreadsheet; send CSV, TSV, RSS, Atom or JSON lines, optionally compressed with gzip");
}

/** Returns whether the bytes are text: they have no control characters except blanks and line ends. */
const isText = (bytes: Uint8Array): boolean => bytes.every((byte) => byte >= 0x20 || (byte >= 0x09 && byte <= 0x0d));

/**
 * Returns whether a file is deflate data without a signature (RFC 1951). If a file does not contain deflate data, unpacking it soon fails, or the
 * result is not text.
 */
function isRawDeflate(bytes: Uint8Array): boolean {
  const start = bytes.subarray(0, START_BYTES);
  if (isUtf8(start) && isText(start)) return false;
  try {
    // Deflate unpacks one byte to at most 1,032 bytes.
    const text = inflateRawSync(start, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 1_032 * START_BYTES });
    // Real deflate data become at least about as long as before when they are unpacked. Bytes that begin like deflate data by chance unpack to only a
    // few bytes.
    return text.length > start.length / 2 && isText(text);
  } catch {
    return false;
  }
}
