/** Tests that the size of the pictures is read after sequence parameters of every kind, which the tests write bit by bit as in H.264, 7.3.2.1.1. */
import { describe, expect, test } from "bun:test";
import { BitReader, MediaProblem } from "./bits.ts";
import { nalUnitsOf, readVideoConfig } from "./h264.ts";

/** An Exp-Golomb number (H.264, 9.1): the number of leading zeros is the number of bits after the first 1. */
function unsigned(value: number): string {
  const bits = (value + 1).toString(2);
  return "0".repeat(bits.length - 1) + bits;
}
const signed = (value: number): string => unsigned(value > 0 ? 2 * value - 1 : -2 * value);

function bytesOf(bits: string): number[] {
  const whole = bits.padEnd(Math.ceil(bits.length / 8) * 8, "0");
  return Array.from({ length: whole.length / 8 }, (_, at) => Number.parseInt(whole.slice(at * 8, at * 8 + 8), 2));
}

interface Sequence {
  readonly profile?: number;
  /** The bits about colours that follow the set's id in some profiles. */
  readonly chroma?: string;
  readonly order?: string;
  readonly across?: number;
  readonly down?: number;
  /** The bit `1` means frames; the bits `0x`, which are one bit more, mean fields. */
  readonly frames?: string;
  readonly crop?: string;
}

/** A sequence parameter set. The last bit of the set is 1, as at the end of every NAL unit. */
const sequenceOf = ({ profile = 66, chroma = "", order = unsigned(2), across = 20, down = 12, frames = "1", crop = "0" }: Sequence): number[] => [
  ...[0x67, profile, 0xc0, 0x1e],
  ...bytesOf(`${unsigned(0)}${chroma}${unsigned(0)}${order}${unsigned(1)}0${unsigned(across - 1)}${unsigned(down - 1)}${frames}1${crop}01`),
];

const lengthOf = (unit: readonly number[]): number[] => [unit.length >> 8, unit.length & 0xff];
const PICTURE_SET = [0x68, 0xce];
const configOf = (sequence: readonly number[], before = [1, 66, 0xc0, 0x1e, 0xff, 0xe1]): Uint8Array =>
  Uint8Array.from([...before, ...lengthOf(sequence), ...sequence, 1, ...lengthOf(PICTURE_SET), ...PICTURE_SET]);
const sizeOf = (sequence: Sequence): string => {
  const { width, height } = readVideoConfig(configOf(sequenceOf(sequence)));
  return `${width}x${height}`;
};

/** The parameters about colours: the chroma format, the plane bit of 4:4:4, the bit depths, the bypass bit, and whether scaling lists follow. */
const chromaOf = (format: number, lists = "0"): string => `${unsigned(format)}${format === 3 ? "1" : ""}${unsigned(2)}${unsigned(3)}1${lists}`;
const cropOf = (left: number, right: number, top: number, bottom: number): string => `1${[left, right, top, bottom].map(unsigned).join("")}`;

describe("the size of the pictures", () => {
  test("is counted in blocks of 16, and twice as many for fields", () => {
    expect([sizeOf({}), sizeOf({ across: 1, down: 1 }), sizeOf({ frames: "00" }), sizeOf({ frames: "01" })]).toEqual([
      "320x192",
      "16x16",
      "320x384",
      "320x384",
    ]);
  });

  test("is cropped on each side, by pairs for subsampled colours, and twice as much for fields", () => {
    expect(sizeOf({ crop: cropOf(1, 2, 3, 4) })).toBe("314x178");
    expect(sizeOf({ crop: cropOf(1, 2, 3, 4), frames: "00" })).toBe("314x356");
    const of = (format: number, frames = "1") => sizeOf({ profile: 100, chroma: chromaOf(format), crop: cropOf(1, 2, 3, 4), frames });
    // The formats are 4:0:0, 4:2:0, 4:2:2 and 4:4:4.
    expect([0, 1, 2, 3].map((format) => of(format))).toEqual(["317x185", "314x178", "314x185", "317x185"]);
    expect([2, 3].map((format) => of(format, "01"))).toEqual(["314x370", "317x370"]);
  });

  test.each([100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135])("follows the colours in profile %d", (profile) => {
    expect(sizeOf({ profile, chroma: chromaOf(1) })).toBe("320x192");
  });

  test.each([66, 77, 88, 99])("has no colours before it in profile %d", (profile) => {
    expect(sizeOf({ profile })).toBe("320x192");
  });

  test("follows scaling lists: eight, or twelve for 4:4:4, of which six have 16 numbers and the others 64", () => {
    // `full` writes all numbers of a scaling list; `ended` ends the list early, with a step that makes the next number 0.
    const full = (size: number) => `1${signed(1).repeat(size)}`;
    const ended = (after: number) => `1${signed(2).repeat(after)}${signed(-(8 + 2 * after))}`;
    const lists = [full(16), "0", ended(0), full(16), ended(3), full(16), full(64), ended(63)].join("");
    expect(sizeOf({ profile: 100, chroma: chromaOf(1, `1${lists}`) })).toBe("320x192");
    expect(sizeOf({ profile: 244, chroma: chromaOf(3, `1${lists}${full(64)}0${ended(5)}${full(64)}`) })).toBe("320x192");
    // A step between two numbers of a scaling list may wrap below 0 and above 255. In this list, the wrapped value 0 ends the list.
    const round = `1${signed(-9)}${signed(2)}${signed(127)}${signed(127)}${signed(1)}`;
    expect(sizeOf({ profile: 100, chroma: chromaOf(1, `1${round}0000000`) })).toBe("320x192");
  });

  test("follows each kind of picture order", () => {
    const cycle = (count: number, written = count) => `${unsigned(1)}1${signed(-3)}${signed(4)}${unsigned(count)}${signed(5).repeat(written)}`;
    expect([`${unsigned(0)}${unsigned(4)}`, unsigned(2), cycle(0), cycle(2), cycle(255)].map((order) => sizeOf({ order }))).toEqual(
      new Array(5).fill("320x192"),
    );
    // The parser stops after 255 numbers, even if a broken header has a greater count.
    expect(sizeOf({ order: cycle(60_000, 255) })).toBe("320x192");
  });

  test("is at most 16,384 on each side, and never zero", () => {
    expect([sizeOf({ across: 1024 }), sizeOf({ down: 1024 }), sizeOf({ crop: cropOf(159, 0, 0, 95) })]).toEqual(["16384x192", "320x16384", "2x2"]);
    expect(sizeOf({ profile: 244, chroma: chromaOf(3), crop: cropOf(319, 0, 0, 191) })).toBe("1x1");
    for (const wrong of [{ across: 1025 }, { down: 1025 }, { crop: cropOf(100, 60, 0, 0) }, { crop: cropOf(0, 0, 48, 48) }])
      expect(() => sizeOf(wrong)).toThrow(MediaProblem);
  });

  test("is read without the emulation prevention bytes", () => {
    // The bytes 0 0 3 mean 0 0; a byte 3 that does not follow two zeros means 3.
    const plain = sequenceOf({
      profile: 100,
      chroma: chromaOf(1, `1${"0".repeat(8)}`),
      order: `${unsigned(1)}0${signed(0)}${signed(0)}${unsigned(0)}`,
      across: 1024,
    });
    const long = sequenceOf({ order: `${unsigned(1)}1${signed(2 ** 20)}${signed(2 ** 20)}${unsigned(0)}` });
    for (const sequence of [plain, long]) {
      const kept: number[] = [];
      for (const byte of sequence) {
        if (byte <= 3 && kept.at(-1) === 0 && kept.at(-2) === 0) kept.push(3);
        kept.push(byte);
      }
      expect(readVideoConfig(configOf(kept)).height).toBe(192);
    }
    expect(long.join().includes("0,0")).toBe(true);
    // If the parser removed a byte too many or too few from these first bytes, all later bits would move and the width would be wrong.
    const bits = sequenceOf({}).slice(4);
    for (const head of [
      [0x67, 66, 0, 3],
      [0x67, 0, 66, 3],
      [0x67, 0, 0, 3, 30],
      [0x67, 0, 0, 3, 0],
    ])
      expect(readVideoConfig(configOf([...head, ...bits])).width).toBe(320);
  });
});

describe("the configuration", () => {
  const sequence = sequenceOf({ profile: 100, chroma: chromaOf(1) });

  test("names the codec, the parameter sets in order, and the size of lengths", () => {
    expect(readVideoConfig(configOf(sequence))).toEqual({
      lengthBytes: 4,
      parameterSets: [Uint8Array.from(sequence), Uint8Array.from(PICTURE_SET)],
      codec: "avc1.64c01e",
      width: 320,
      height: 192,
    });
    expect([0xfc, 0xfd, 0xff].map((byte) => readVideoConfig(configOf(sequence, [1, 66, 0, 30, byte, 0xe1])).lengthBytes)).toEqual([1, 2, 4]);
    const low = sequenceOf({ profile: 66 }).with(3, 0x0a);
    expect(readVideoConfig(configOf(low)).codec).toBe("avc1.42c00a");
  });

  test("may have several sets of each kind, even one longer than 255 bytes", () => {
    const long = [...sequence, ...new Array<number>(300).fill(0x80)];
    const bytes = Uint8Array.from([
      ...[1, 100, 0, 30, 0xff, 0xe2, ...lengthOf(long), ...long, ...lengthOf(sequence), ...sequence],
      ...[2, ...lengthOf(PICTURE_SET), ...PICTURE_SET, 0, 1, 0x68],
    ]);
    expect(readVideoConfig(bytes).parameterSets.map(({ length }) => length)).toEqual([long.length, sequence.length, 2, 1]);
  });

  test("is refused if it is cut off anywhere, has another version, no sets, or another unit instead of one", () => {
    const whole = configOf(sequence);
    for (let length = 0; length < whole.length; length++) {
      const cut = whole.subarray(0, length);
      // A configuration that ends after the sequence parameters has no picture parameters; Plaza accepts it, and leaves the decision to the player's
      // decoder.
      if (length === whole.length - 5) expect(readVideoConfig(cut).parameterSets).toHaveLength(1);
      else expect(() => readVideoConfig(cut)).toThrow("the H.264 configuration cannot be read");
    }
    for (const wrong of [
      whole.with(0, 0),
      configOf(sequence.with(0, 0x68)),
      configOf([]),
      configOf([0x67, 66, 0]),
      configOf([0x67, 66, 0, 30]),
      Uint8Array.of(1, 66, 0, 30, 0xff, 0xe0, 0),
    ])
      expect(() => readVideoConfig(wrong)).toThrow("the H.264 configuration cannot be read");
  });
});

test("a picture's NAL units follow lengths of 1, 2 or 4 bytes; delimiters and empty ones are omitted", () => {
  const units = [[0x65, 1, 2], [], [0x09, 0x10], [0x41]];
  for (const lengthBytes of [1, 2, 4]) {
    const bytes = Uint8Array.from(units.flatMap((unit) => [...new Array<number>(lengthBytes - 1).fill(0), unit.length, ...unit]));
    expect(nalUnitsOf(bytes, lengthBytes).map((unit) => [...unit])).toEqual([[0x65, 1, 2], [0x41]]);
    expect(() => nalUnitsOf(bytes.subarray(0, -1), lengthBytes)).toThrow("a picture of the video is cut off");
  }
  const long = Uint8Array.from([1, 1, 0x65, ...new Array<number>(256).fill(7)]);
  expect(nalUnitsOf(long, 2).map(({ length }) => length)).toEqual([257]);
  // Zeros at the end are not a NAL unit, even if there are fewer zeros than a length has bytes.
  for (const zeros of [0, 3, 4, 9]) expect(nalUnitsOf(new Uint8Array(zeros), 4)).toEqual([]);
});

test("bits are read from the highest to the lowest, numbers as Exp-Golomb, and zeros after the end", () => {
  const reader = new BitReader(Uint8Array.of(0b1010_0110, 0b0000_1111));
  expect([reader.bits(1), reader.bits(3), reader.bits(4), reader.bits(0)]).toEqual([1, 2, 6, 0]);
  reader.skip(4);
  expect([reader.isPastEnd, reader.bits(4), reader.isPastEnd, reader.bits(1), reader.isPastEnd]).toEqual([false, 15, false, 0, true]);
  expect(reader.bits(16)).toBe(0);
  expect(new BitReader(Uint8Array.of(0xff, 0xff, 0xff, 0xfe)).bits(32)).toBe(0xffff_fffe);
  const numbers = [0, 1, 2, 3, 6, 7, 100, 65_535];
  const written = new BitReader(Uint8Array.from(bytesOf(numbers.map(unsigned).join(""))));
  expect(numbers.map(() => written.unsigned())).toEqual(numbers);
  const both = [0, 1, -1, 2, -2, 50, -50];
  const signs = new BitReader(Uint8Array.from(bytesOf(both.map(signed).join(""))));
  expect(both.map(() => signs.signed() + 0)).toEqual(both);
  const widest = new BitReader(Uint8Array.from(bytesOf(`${"0".repeat(31)}1${"1".repeat(31)}`)));
  expect(widest.unsigned()).toBe(2 ** 32 - 2);
  // No valid number has 32 leading zeros.
  const none = new BitReader(Uint8Array.from(bytesOf(`${"0".repeat(32)}1`)));
  expect([none.unsigned(), none.bits(1)]).toEqual([0, 1]);
});
