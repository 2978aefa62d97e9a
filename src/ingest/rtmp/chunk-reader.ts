/** Assembles RTMP messages from chunks as the bytes of the chunks arrive (section 5.3.1 of the RTMP specification). */
import { CHUNK_STREAMS_MAX, type Message, type MessageLimits, MessageType, RtmpProblem } from "./message.ts";

/** The size of chunks until the peer sets another size. */
const DEFAULT_CHUNK_BYTES = 128;
/** The size of the message header, by the format of the chunk. */
const MESSAGE_HEADER_BYTES = [11, 7, 3, 0] as const;
/** If a header contains this timestamp, the four bytes after the header contain the real timestamp. */
const EXTENDED = 0xff_ff_ff;
const NO_BYTES = new Uint8Array();
/** The size of a message's first buffer. The buffer grows only as bytes arrive, so that a large length alone uses no memory. */
const FIRST_BUFFER_BYTES = 4096;

interface ChunkStream {
  timestamp: number;
  /** The time that is added to the timestamp if the next message begins with a chunk of format 3. */
  delta: number;
  /** The extended timestamp, which each chunk of the message repeats; undefined if the message has a short timestamp. */
  extended: number | undefined;
  length: number;
  type: number;
  stream: number;
  /** The received bytes of the incomplete message; undefined between two messages. */
  body: Uint8Array | undefined;
  received: number;
}

export class ChunkReader {
  limits: MessageLimits;
  #chunkBytes = DEFAULT_CHUNK_BYTES;
  readonly #streams = new Map<number, ChunkStream>();
  /** The received bytes of an incomplete header. */
  #carry: Uint8Array = NO_BYTES;
  /** Whether the peer repeats an extended timestamp in chunks of format 3; undefined until the peer has sent such a chunk. */
  #repeatsExtended: boolean | undefined;
  /** The chunk stream whose current chunk is incomplete. `#payloadLeft` is the number of bytes that are missing from this chunk. */
  #current: ChunkStream | undefined;
  #payloadLeft = 0;
  /** The number of received bytes of all incomplete messages together. */
  #assembling = 0;

  constructor(limits: MessageLimits) {
    this.limits = limits;
  }

  /** Reads the next bytes of the connection, and calls `take` with each complete message, whose body `take` may store. Throws `RtmpProblem`. */
  read(bytes: Uint8Array, take: (message: Message) => void): void {
    const all = this.#carry.length === 0 ? bytes : Buffer.concat([this.#carry, bytes]);
    this.#carry = NO_BYTES;
    let at = 0;
    while (at < all.length) {
      const rest = all.subarray(at);
      const used = this.#current === undefined ? this.#readHeader(rest) : this.#readPayload(this.#current, rest);
      if (used === undefined) {
        // The remaining bytes are copied, because the caller may reuse the memory of `bytes`.
        this.#carry = new Uint8Array(rest);
        return;
      }
      at += used;
      if (this.#current !== undefined && this.#payloadLeft === 0) this.#endChunk(this.#current, take);
    }
  }

  /** Sets the size of chunks, whose highest bit must be 0 (section 5.4.1). */
  setChunkBytes(size: number): void {
    if (size < 1 || size > 0x7f_ff_ff_ff) throw new RtmpProblem(`a chunk size of ${size} is not allowed`);
    this.#chunkBytes = size;
  }

  /** Drops an incomplete message, because the peer does not send its rest (section 5.4.2). */
  abort(id: number): void {
    const stream = this.#streams.get(id);
    if (stream?.body === undefined) return;
    this.#assembling -= stream.body.length;
    stream.body = undefined;
  }

  /** Reads a chunk's header and returns its length. If the header is incomplete, the method returns undefined without a change. */
  #readHeader(header: Uint8Array): number | undefined {
    const first = header[0] as number;
    const format = (first >> 6) as 0 | 1 | 2 | 3;
    const low = first & 0x3f;
    const basic = low === 0 ? 2 : low === 1 ? 3 : 1;
    const fixed = basic + MESSAGE_HEADER_BYTES[format];
    if (header.length < fixed) return undefined;
    const id = low === 0 ? 64 + (header[1] as number) : low === 1 ? 64 + (header[1] as number) + 256 * (header[2] as number) : low;
    const known = this.#streams.get(id);
    if (format === 3 && known !== undefined) return this.#continue(known, header, fixed);
    // A new chunk stream may begin with format 1 and then has the message stream 0, because librtmp does so for its pings.
    if (known === undefined && format > 1) throw new RtmpProblem(`chunk stream ${id} does not begin with a whole header`);
    const isExtended = readUint24(header, basic) === EXTENDED;
    const end = isExtended ? fixed + 4 : fixed;
    if (header.length < end) return undefined;
    const stream = known ?? this.#open(id);
    if (stream.body !== undefined) throw new RtmpProblem("a message begins before the previous message on its chunk stream ends");
    const time = isExtended ? readUint32(header, fixed) : readUint24(header, basic);
    stream.extended = isExtended ? time : undefined;
    stream.timestamp = format === 0 ? time : (stream.timestamp + time) >>> 0;
    // A message in format 3 right after a message in format 0 gets the same time as that message, because encoders send several messages of one time
    // this way.
    stream.delta = format === 0 ? 0 : time;
    if (format <= 1) {
      stream.length = readUint24(header, basic + 3);
      stream.type = header[basic + 6] as number;
    }
    if (format === 0) stream.stream = readUint32LittleEndian(header, basic + 7);
    this.#begin(stream);
    return end;
  }

  /** Reads a chunk of format 3, which continues a message, or begins another message with the same header. */
  #continue(stream: ChunkStream, header: Uint8Array, fixed: number): number | undefined {
    const isRepeated = stream.extended === undefined ? false : this.#isRepeated(stream.extended, header.subarray(fixed));
    if (isRepeated === undefined) return undefined;
    if (stream.body === undefined) {
      stream.timestamp = (stream.timestamp + stream.delta) >>> 0;
      this.#begin(stream);
    } else this.#expect(stream);
    return isRepeated ? fixed + 4 : fixed;
  }

  /**
   * Whether the chunk repeats the extended timestamp before `payload`. The specification requires that each chunk repeats the extended timestamp, but
   * older encoders leave it out. The first chunk shows whether the peer repeats the timestamp, because a payload hardly ever begins with the same
   * four bytes. Returns undefined if more bytes are needed.
   */
  #isRepeated(extended: number, payload: Uint8Array): boolean | undefined {
    if (this.#repeatsExtended === false) return false;
    const isSame = payload.subarray(0, 4).every((byte, i) => byte === ((extended >>> (24 - 8 * i)) & 0xff));
    if (isSame && payload.length < 4) return undefined;
    this.#repeatsExtended ??= isSame;
    return isSame;
  }

  #open(id: number): ChunkStream {
    if (this.#streams.size >= CHUNK_STREAMS_MAX) throw new RtmpProblem("there are too many chunk streams");
    const stream: ChunkStream = { timestamp: 0, delta: 0, extended: undefined, length: 0, type: 0, stream: 0, body: undefined, received: 0 };
    this.#streams.set(id, stream);
    return stream;
  }

  #begin(stream: ChunkStream): void {
    if (stream.length > this.limits.messageBytesMax)
      throw new RtmpProblem(`a message has ${stream.length} bytes, and at most ${this.limits.messageBytesMax} are allowed`);
    stream.received = 0;
    stream.body = new Uint8Array(Math.min(stream.length, FIRST_BUFFER_BYTES));
    this.#assembling += stream.body.length;
    this.#expect(stream);
  }

  #expect(stream: ChunkStream): void {
    this.#current = stream;
    this.#payloadLeft = Math.min(this.#chunkBytes, stream.length - stream.received);
  }

  /** Reads bytes of a chunk's payload, and returns the number of bytes that were read. */
  #readPayload(stream: ChunkStream, bytes: Uint8Array): number {
    const used = Math.min(bytes.length, this.#payloadLeft);
    const body = this.#bufferFor(stream, stream.received + used);
    body.set(used === bytes.length ? bytes : bytes.subarray(0, used), stream.received);
    stream.received += used;
    this.#payloadLeft -= used;
    return used;
  }

  #bufferFor(stream: ChunkStream, needed: number): Uint8Array {
    const body = stream.body as Uint8Array;
    if (body.length >= needed) return body;
    const larger = new Uint8Array(Math.min(stream.length, Math.max(needed, body.length * 2)));
    this.#assembling += larger.length - body.length;
    if (this.#assembling > this.limits.messageBytesMax)
      throw new RtmpProblem(`the incomplete messages together have more than ${this.limits.messageBytesMax} bytes`);
    larger.set(body.subarray(0, stream.received));
    stream.body = larger;
    return larger;
  }

  #endChunk(stream: ChunkStream, take: (message: Message) => void): void {
    this.#current = undefined;
    const { body } = stream;
    if (body === undefined || stream.received < stream.length) return;
    stream.body = undefined;
    this.#assembling -= body.length;
    const { type, timestamp } = stream;
    // The reader and not the caller sets the chunk size, because the next chunk of the same bytes already has the new size.
    if (type === MessageType.SetChunkSize) this.setChunkBytes(readControl(body));
    else if (type === MessageType.Abort) this.abort(readControl(body));
    else take({ type, stream: stream.stream, timestamp, body });
  }
}

/** Reads the number in a control message, whose body has no other value. */
export function readControl(body: Uint8Array): number {
  if (body.length < 4) throw new RtmpProblem("a control message is cut off");
  return readUint32(body, 0);
}

const readUint24 = (bytes: Uint8Array, at: number): number =>
  ((bytes[at] as number) << 16) | ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number);

const readUint32 = (bytes: Uint8Array, at: number): number => (((bytes[at] as number) << 24) | readUint24(bytes, at + 1)) >>> 0;

const readUint32LittleEndian = (bytes: Uint8Array, at: number): number =>
  ((bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24)) >>> 0;
