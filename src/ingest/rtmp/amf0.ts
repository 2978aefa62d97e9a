/** Reads and writes AMF0, the format of the values in RTMP's commands and metadata ("Action Message Format -- AMF 0", Adobe, 2007). */
import { AMF_DEPTH_MAX, AMF_VALUES_MAX, RtmpProblem } from "./message.ts";

export type AmfValue = number | boolean | string | null | undefined | readonly AmfValue[] | AmfObject;

/** An object of AMF0, without a prototype, so that `__proto__` is a key like any other key. */
export interface AmfObject {
  readonly [name: string]: AmfValue;
}

const Marker = {
  Number: 0,
  Boolean: 1,
  String: 2,
  Object: 3,
  Null: 5,
  Undefined: 6,
  EcmaArray: 8,
  ObjectEnd: 9,
  StrictArray: 10,
  Date: 11,
  LongString: 12,
} as const;

/** Reads all values of a message. Throws `RtmpProblem`. */
export function readAmf(bytes: Uint8Array): AmfValue[] {
  const reader = new AmfReader(bytes);
  const values: AmfValue[] = [];
  while (!reader.isAtEnd) values.push(reader.value(0));
  return values;
}

const utf8 = new TextDecoder();

class AmfReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;
  #count = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  value(depth: number): AmfValue {
    if (depth > AMF_DEPTH_MAX) throw new RtmpProblem("AMF values are nested too deeply");
    if (++this.#count > AMF_VALUES_MAX) throw new RtmpProblem("a message has too many AMF values");
    const marker = this.#byte();
    switch (marker) {
      case Marker.Number:
        return this.#view.getFloat64(this.#skip(8));
      case Marker.Boolean:
        return this.#byte() !== 0;
      case Marker.String:
        return this.#text(this.#view.getUint16(this.#skip(2)));
      case Marker.LongString:
        return this.#text(this.#view.getUint32(this.#skip(4)));
      case Marker.Object:
        return this.#object(depth);
      case Marker.EcmaArray:
        // The number of keys is skipped, because it is only a hint: the object ends with an end marker.
        this.#skip(4);
        return this.#object(depth);
      case Marker.StrictArray:
        return this.#array(depth);
      case Marker.Date:
        return this.#date();
      case Marker.Null:
        return null;
      case Marker.Undefined:
        return undefined;
      default:
        throw new RtmpProblem(`the AMF type ${marker} is not supported`);
    }
  }

  #object(depth: number): AmfObject {
    const object = Object.create(null) as Record<string, AmfValue>;
    // A message may end inside an object, because some encoders leave out the end marker of the last object.
    while (!this.isAtEnd) {
      const name = this.#text(this.#view.getUint16(this.#skip(2)));
      if (name === "" && this.#bytes[this.#at] === Marker.ObjectEnd) {
        this.#at++;
        break;
      }
      object[name] = this.value(depth + 1);
    }
    return object;
  }

  #array(depth: number): AmfValue[] {
    const length = this.#view.getUint32(this.#skip(4));
    const values: AmfValue[] = [];
    // The method `value` limits the number of values, so an array with a false, large length uses no memory.
    for (let i = 0; i < length; i++) values.push(this.value(depth + 1));
    return values;
  }

  #date(): number {
    const ms = this.#view.getFloat64(this.#skip(8));
    this.#skip(2);
    return ms;
  }

  #text(length: number): string {
    const start = this.#skip(length);
    return utf8.decode(this.#bytes.subarray(start, start + length));
  }

  #byte(): number {
    return this.#bytes[this.#skip(1)] as number;
  }

  /** Skips bytes. Skips bytes, and returns the index of the first skipped byte. */
  #skip(count: number): number {
    const start = this.#at;
    if (start + count > this.#bytes.length) throw new RtmpProblem("an AMF value is cut off");
    this.#at = start + count;
    return start;
  }
}

const encoder = new TextEncoder();

/** Returns the bytes of several AMF0 values. */
export function writeAmf(values: readonly AmfValue[]): Uint8Array {
  const bytes: number[] = [];
  for (const value of values) write(bytes, value);
  return Uint8Array.from(bytes);
}

function write(bytes: number[], value: AmfValue): void {
  if (typeof value === "number") bytes.push(Marker.Number, ...new Uint8Array(new Float64Array([value]).buffer).reverse());
  else if (typeof value === "boolean") bytes.push(Marker.Boolean, value ? 1 : 0);
  else if (typeof value === "string") {
    bytes.push(Marker.String);
    writeText(bytes, value);
  } else if (value === null) bytes.push(Marker.Null);
  else if (value === undefined) bytes.push(Marker.Undefined);
  else if (isList(value)) {
    bytes.push(Marker.StrictArray, 0, 0, value.length >> 8, value.length & 0xff);
    for (const item of value) write(bytes, item);
  } else {
    bytes.push(Marker.Object);
    for (const [name, item] of Object.entries(value)) {
      writeText(bytes, name);
      write(bytes, item);
    }
    bytes.push(0, 0, Marker.ObjectEnd);
  }
}

const isList = (value: readonly AmfValue[] | AmfObject): value is readonly AmfValue[] => Array.isArray(value);

/** Writes a text, cut after 65,535 bytes; Plaza never sends a longer text. */
function writeText(bytes: number[], text: string): void {
  const encoded = encoder.encode(text).subarray(0, 0xffff);
  bytes.push(encoded.length >> 8, encoded.length & 0xff, ...encoded);
}
