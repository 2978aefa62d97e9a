/**
 * Writes segments of HLS as MPEG transport streams (ISO/IEC 13818-1) with H.264 and AAC. A picture keeps both its decoding time and its presentation
 * time, because pictures may be shown in another order than they are decoded (B-frames).
 */
import { adtsFrame } from "./aac.ts";
import { nalUnitsOf } from "./h264.ts";
import type { Picture, Sound } from "./packets.ts";

const PACKET_BYTES = 188;
const PAYLOAD_BYTES = PACKET_BYTES - 4;
const SYNC = 0x47;

const PAT_PID = 0;
const PMT_PID = 0x1000;
const VIDEO_PID = 0x100;
const AUDIO_PID = 0x101;
const VIDEO_STREAM = 0xe0;
const AUDIO_STREAM = 0xc0;
const H264 = 0x1b;
const ADTS_AAC = 0x0f;

/** The number of ticks of the 90 kHz clock in a millisecond. */
const TICKS = 90;
/**
 * The time of the first picture. The first picture does not have the time 0, because audio may begin a little earlier, and the clock in the stream
 * begins `CLOCK_AHEAD_MS` before the pictures.
 */
const START_MS = 1_000;
const CLOCK_AHEAD_MS = 100;

const START_CODE = Uint8Array.of(0, 0, 0, 1);
/** An access unit delimiter for any kind of picture; players expect a delimiter before each picture. */
const DELIMITER = Uint8Array.of(0, 0, 0, 1, 9, 0xf0);

const FIRST_BUFFER_BYTES = 262_144;

export class TransportStream {
  #bytes = new Uint8Array(FIRST_BUFFER_BYTES);
  #length = 0;
  /** The number of packets of each stream modulo 16, counted over all segments. */
  readonly #counters = new Map<number, number>();

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** Adds a picture to the segment. Throws `MediaProblem`. */
  addPicture({ config, isKey, decodeMs, showMs, bytes }: Picture): void {
    const units = nalUnitsOf(bytes, config.lengthBytes);
    if (isKey) units.unshift(...config.parameterSets);
    const parts = [DELIMITER, ...units.flatMap((unit) => [START_CODE, unit])];
    const decode = ticksOf(decodeMs);
    const show = Math.max(ticksOf(showMs), decode);
    this.#addElement(VIDEO_PID, elementOf(VIDEO_STREAM, show, decode, parts), isKey, ticksOf(decodeMs - CLOCK_AHEAD_MS));
  }

  /** Adds sound to the segment. Throws `MediaProblem`. */
  addSound({ ms, config, frames }: Sound): void {
    const parts = frames.map((frame) => adtsFrame(config, frame));
    this.#addElement(AUDIO_PID, elementOf(AUDIO_STREAM, ticksOf(ms), undefined, parts), false, undefined);
  }

  /** Returns the completed segment and begins the next segment. */
  take(): Uint8Array {
    const bytes = this.#bytes.slice(0, this.#length);
    this.#length = 0;
    return bytes;
  }

  /** Splits a packetized element into packets. The first packet contains the time `clock`. */
  #addElement(pid: number, element: Uint8Array, isKey: boolean, clock: number | undefined): void {
    if (this.#length === 0) this.#addTables();
    for (let at = 0; at < element.length; ) {
      const isFirst = at === 0;
      const left = element.length - at;
      // The adaptation field with a clock has 8 bytes: the length, the flags, and six bytes for the clock.
      const extra = isFirst && clock !== undefined ? 8 : 0;
      const payload = Math.min(left, PAYLOAD_BYTES - extra);
      const packet = this.#beginPacket(pid, isFirst, extra > 0 || payload < PAYLOAD_BYTES);
      const adaptation = PAYLOAD_BYTES - payload;
      if (adaptation > 0) this.#writeAdaptation(packet + 4, adaptation, isKey, extra > 0 ? clock : undefined);
      this.#bytes.set(element.subarray(at, at + payload), packet + PACKET_BYTES - payload);
      at += payload;
    }
  }

  /** Writes an adaptation field of `size` bytes: the length, the flags, the clock, and padding. */
  #writeAdaptation(at: number, size: number, isKey: boolean, clock: number | undefined): void {
    this.#bytes.fill(0xff, at, at + size);
    this.#bytes[at] = size - 1;
    if (size === 1) return;
    this.#bytes[at + 1] = clock === undefined ? 0 : isKey ? 0x50 : 0x10;
    if (clock === undefined) return;
    const base = Math.max(0, clock);
    this.#bytes.set(
      [(base / 2 ** 25) & 0xff, (base / 2 ** 17) & 0xff, (base / 2 ** 9) & 0xff, (base / 2) & 0xff, ((base & 1) << 7) | 0x7e, 0],
      at + 2,
    );
  }

  #addTables(): void {
    this.#addTable(PAT_PID, [0, 1, 0xe0 | (PMT_PID >> 8), PMT_PID & 0xff], 0, 1);
    const stream = (type: number, pid: number) => [type, 0xe0 | (pid >> 8), pid & 0xff, 0xf0, 0];
    this.#addTable(PMT_PID, [0xe0 | (VIDEO_PID >> 8), VIDEO_PID & 0xff, 0xf0, 0, ...stream(H264, VIDEO_PID), ...stream(ADTS_AAC, AUDIO_PID)], 2, 1);
  }

  #addTable(pid: number, content: readonly number[], id: number, number: number): void {
    const packet = this.#beginPacket(pid, true, false);
    // The length of the table includes the number, the version, two section numbers, the content and the checksum.
    const length = 5 + content.length + 4;
    const section = [id, 0xb0 | (length >> 8), length & 0xff, number >> 8, number & 0xff, 0xc1, 0, 0, ...content];
    const sum = checksum(section);
    this.#bytes.fill(0xff, packet + 4, packet + PACKET_BYTES);
    this.#bytes.set([0, ...section, sum >>> 24, (sum >>> 16) & 0xff, (sum >>> 8) & 0xff, sum & 0xff], packet + 4);
  }

  /** Begins a packet. Returns the index of the packet's first byte. */
  #beginPacket(pid: number, isFirst: boolean, hasAdaptation: boolean): number {
    const at = this.#length;
    this.#length += PACKET_BYTES;
    if (this.#length > this.#bytes.length) {
      const larger = new Uint8Array(this.#bytes.length * 2);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    const counter = this.#counters.get(pid) ?? 0;
    this.#counters.set(pid, (counter + 1) & 0x0f);
    this.#bytes[at] = SYNC;
    this.#bytes[at + 1] = (isFirst ? 0x40 : 0) | (pid >> 8);
    this.#bytes[at + 2] = pid & 0xff;
    this.#bytes[at + 3] = (hasAdaptation ? 0x30 : 0x10) | counter;
    return at;
  }
}

/** Converts a time to ticks of the 90 kHz clock. The clock has 33 bits and wraps after 26 hours, as players expect. */
const ticksOf = (ms: number): number => Math.max(0, Math.round((ms + START_MS) * TICKS));

/** Makes a packet of the packetized elementary stream: the header, the times, and the payload. */
function elementOf(stream: number, show: number, decode: number | undefined, parts: readonly Uint8Array[]): Uint8Array {
  const times = decode === undefined ? timeOf(2, show) : [...timeOf(3, show), ...timeOf(1, decode)];
  const payload = parts.reduce((sum, part) => sum + part.length, 0);
  const afterLength = 3 + times.length + payload;
  // The header does not state the length of a picture, because a picture may be larger than the length field allows. The length 0 means that the
  // picture ends where the next picture begins.
  const length = stream === VIDEO_STREAM || afterLength > 0xff_ff ? 0 : afterLength;
  const header = [0, 0, 1, stream, length >> 8, length & 0xff, 0x80, decode === undefined ? 0x80 : 0xc0, times.length, ...times];
  const element = new Uint8Array(header.length + payload);
  element.set(header);
  let at = header.length;
  for (const part of parts) {
    element.set(part, at);
    at += part.length;
  }
  return element;
}

function timeOf(mark: number, ticks: number): number[] {
  const time = ticks % 2 ** 33;
  const low = time % 2 ** 30;
  const high = Math.floor(time / 2 ** 30);
  return [(mark << 4) | (high << 1) | 1, (low >>> 22) & 0xff, ((low >>> 14) & 0xfe) | 1, (low >>> 7) & 0xff, ((low << 1) & 0xfe) | 1];
}

/** The CRC-32 of MPEG-2 (ISO/IEC 13818-1, annex A). The slow algorithm suffices, because each segment has only a few bytes of tables. */
function checksum(bytes: readonly number[]): number {
  let sum = 0xff_ff_ff_ff;
  for (const byte of bytes) {
    sum ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) sum = sum < 0 || sum >= 0x80_00_00_00 ? (sum << 1) ^ 0x04_c1_1d_b7 : sum << 1;
  }
  return sum >>> 0;
}
