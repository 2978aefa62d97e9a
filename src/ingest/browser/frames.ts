/** The frames of a WebSocket (RFC 6455, 5), read and written. No extension is agreed on. */

export enum Opcode {
  Continuation = 0,
  Text = 1,
  Binary = 2,
  Close = 8,
  Ping = 9,
  Pong = 10,
}

/** Why a connection is closed: of the protocol (7.4.1), or of a live video (docs/guides/live-from-a-page.md). */
export enum CloseCode {
  Normal = 1000,
  ProtocolError = 1002,
  TooLarge = 1009,
  FeedEnded = 4400,
  KeyRefused = 4401,
}

export class FrameProblem extends Error {
  constructor(
    readonly code: CloseCode,
    problem: string,
  ) {
    super(problem);
    this.name = "FrameProblem";
  }
}

const FINAL = 0x80;
const RESERVED = 0x70;
const MASKED = 0x80;
const CONTROL = 8;
const CONTROL_BYTES_MAX = 125;
const MASK_BYTES = 4;
/** Two bytes, a length of eight, the mask. */
const HEADER_BYTES_MAX = 14;
/** What a message gets at first; more only as its bytes arrive, so that a length alone costs nothing. */
const FIRST_BUFFER_BYTES = 4096;

/** Browsers cut a message into a few frames at most. */
const PARTS_MAX = 256;

/** A text, a binary message, or a control frame; its payload is the receiver's. */
type Take = (opcode: Opcode, payload: Uint8Array) => void;

interface Frame {
  readonly opcode: Opcode;
  readonly isFinal: boolean;
  readonly length: number;
  received: number;
  payload: Uint8Array;
}

export class FrameReader {
  messageBytesMax: number;
  readonly #header = new Uint8Array(HEADER_BYTES_MAX);
  #headerLength = 0;
  /** Of the frame that is arriving. */
  #mask = new Uint8Array(MASK_BYTES);
  /** Of the frame that is arriving; undefined while its header is. */
  #frame: Frame | undefined;
  /** The frames of a message that is in several. */
  #parts: Uint8Array[] = [];
  #opcode: Opcode | undefined;

  constructor(messageBytesMax: number) {
    this.messageBytesMax = messageBytesMax;
  }

  /** Throws `FrameProblem`. */
  read(bytes: Uint8Array, take: Take): void {
    let at = 0;
    while (at < bytes.length) {
      at += this.#frame === undefined ? this.#readHeader(bytes.subarray(at)) : this.#readPayload(this.#frame, bytes.subarray(at));
      if (this.#frame !== undefined && this.#frame.received === this.#frame.length) this.#end(take);
    }
  }

  /** Returns how many bytes it has used. */
  #readHeader(bytes: Uint8Array): number {
    const carried = this.#headerLength;
    this.#header.set(bytes.subarray(0, HEADER_BYTES_MAX - carried), carried);
    const have = Math.min(HEADER_BYTES_MAX, carried + bytes.length);
    this.#headerLength = have;
    const [first = 0, second = 0] = this.#header;
    const short = second & 0x7f;
    const fixed = short === 126 ? 4 : short === 127 ? 10 : 2;
    if (have < 2 || have < fixed + MASK_BYTES) return bytes.length;
    const view = new DataView(this.#header.buffer);
    const length = fixed === 2 ? short : fixed === 4 ? view.getUint16(2) : view.getUint32(2) * 2 ** 32 + view.getUint32(6);
    this.#mask = this.#header.slice(fixed, fixed + MASK_BYTES);
    this.#headerLength = 0;
    this.#begin({
      opcode: first & 0x0f,
      isFinal: (first & FINAL) !== 0,
      isMasked: (second & MASKED) !== 0,
      hasReserved: (first & RESERVED) !== 0,
      length,
    });
    return fixed + MASK_BYTES - carried;
  }

  #begin(head: { opcode: number; isFinal: boolean; isMasked: boolean; hasReserved: boolean; length: number }): void {
    const { opcode, isFinal, isMasked, hasReserved, length } = head;
    const isControl = opcode >= CONTROL;
    if (!isMasked || hasReserved || Opcode[opcode] === undefined)
      throw new FrameProblem(CloseCode.ProtocolError, "a frame has no mask, or is of no known kind");
    if (isControl && (!isFinal || length > CONTROL_BYTES_MAX)) throw new FrameProblem(CloseCode.ProtocolError, "a control frame is too long");
    if (!isControl && (opcode === Opcode.Continuation) !== (this.#opcode !== undefined))
      throw new FrameProblem(CloseCode.ProtocolError, "the frames of a message are not in order");
    const before = isControl ? 0 : this.#parts.reduce((sum, part) => sum + part.length, 0);
    if (before + length > this.messageBytesMax) throw new FrameProblem(CloseCode.TooLarge, `a message has more than ${this.messageBytesMax} bytes`);
    this.#frame = { opcode, isFinal, length, received: 0, payload: new Uint8Array(Math.min(length, FIRST_BUFFER_BYTES)) };
  }

  /** Returns how many bytes it has used. */
  #readPayload(frame: Frame, bytes: Uint8Array): number {
    const used = Math.min(bytes.length, frame.length - frame.received);
    const end = frame.received + used;
    if (frame.payload.length < end) {
      const larger = new Uint8Array(Math.min(frame.length, Math.max(end, frame.payload.length * 2)));
      larger.set(frame.payload.subarray(0, frame.received));
      frame.payload = larger;
    }
    for (let i = 0; i < used; i++) frame.payload[frame.received + i] = (bytes[i] as number) ^ (this.#mask[(frame.received + i) & 3] as number);
    frame.received = end;
    return used;
  }

  #end(take: Take): void {
    const { opcode, isFinal, payload } = this.#frame as Frame;
    this.#frame = undefined;
    if (opcode >= CONTROL) {
      take(opcode, payload);
      return;
    }
    const kind = this.#opcode ?? opcode;
    this.#opcode = kind;
    this.#parts.push(payload);
    if (this.#parts.length > PARTS_MAX) throw new FrameProblem(CloseCode.TooLarge, `a message has more than ${PARTS_MAX} frames`);
    if (!isFinal) return;
    const message = this.#parts.length === 1 ? payload : new Uint8Array(Buffer.concat(this.#parts));
    this.#parts = [];
    this.#opcode = undefined;
    take(kind, message);
  }
}

/** A whole message, or a control frame. A server's frames have no mask. */
export function frameOf(opcode: Opcode, payload: Uint8Array): Uint8Array {
  if (payload.length > 0xffff) throw new Error("a server's messages are short");
  const length = payload.length > CONTROL_BYTES_MAX ? [126, payload.length >> 8, payload.length & 0xff] : [payload.length];
  const frame = new Uint8Array(1 + length.length + payload.length);
  frame.set([FINAL | opcode, ...length]);
  frame.set(payload, 1 + length.length);
  return frame;
}

export function closeFrame(code: CloseCode, reason: string): Uint8Array {
  // A control frame has 125 bytes at most, and the code two of them. The reasons are of this program and in ASCII.
  const text = Buffer.from(reason.slice(0, CONTROL_BYTES_MAX - 2));
  return frameOf(Opcode.Close, Buffer.concat([Uint8Array.of(code >> 8, code & 0xff), text]));
}
