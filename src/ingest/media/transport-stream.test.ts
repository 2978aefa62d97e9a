/** Tests segments by parsing their bytes according to ISO/IEC 13818-1. */
import { expect, test } from "bun:test";
import type { Picture, Sound } from "./packets.ts";
import { TransportStream } from "./transport-stream.ts";

const config = { lengthBytes: 4, parameterSets: [] } as unknown as Picture["config"];
const unit = (bytes: number): Uint8Array => Buffer.concat([Uint8Array.of(0, 0, bytes >> 8, bytes & 0xff), new Uint8Array(bytes).fill(0x65)]);
const picture = (decodeMs: number, more: Partial<Picture> = {}): Picture => ({
  config,
  isKey: true,
  decodeMs,
  showMs: decodeMs,
  bytes: unit(10),
  ...more,
});
const sound: Sound = {
  ms: 0,
  config: { objectType: 2, frequencyIndex: 4, sampleRate: 44_100, channels: 1 } as unknown as Sound["config"],
  frames: [new Uint8Array(20)],
};

interface Packet {
  readonly pid: number;
  readonly isFirst: boolean;
  readonly counter: number;
  /** The adaptation field: its length, its flags, and the data of these flags. */
  readonly adaptation: Uint8Array;
  readonly payload: Uint8Array;
}

function packetsOf(bytes: Uint8Array): Packet[] {
  expect(bytes.length % 188).toBe(0);
  return Array.from({ length: bytes.length / 188 }, (_, at) => {
    const packet = bytes.subarray(at * 188, (at + 1) * 188);
    const [sync = 0, high = 0, low = 0, flags = 0, length = 0] = packet;
    expect(sync).toBe(0x47);
    const hasAdaptation = (flags & 0x20) > 0;
    const begin = hasAdaptation ? 5 + length : 4;
    return {
      ...{ pid: ((high & 0x1f) << 8) | low, isFirst: (high & 0x40) > 0, counter: flags & 0x0f },
      ...{ adaptation: hasAdaptation ? packet.subarray(4, begin) : new Uint8Array(), payload: packet.subarray(begin) },
    };
  });
}

const segmentOf = (...pictures: readonly Picture[]): Packet[] => {
  const stream = new TransportStream();
  for (const one of pictures) stream.addPicture(one);
  return packetsOf(stream.take());
};

/** The 33 bits of the program's clock in the first packet of a picture. */
function clockOf({ adaptation }: Packet): number {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, rest] = adaptation.subarray(2);
  expect(rest).toBe(0);
  expect(e & 0x7f).toBe(0x7e);
  return a * 2 ** 25 + b * 2 ** 17 + c * 2 ** 9 + d * 2 + (e >> 7);
}

test("a segment begins with its two tables, padded with ones", () => {
  const [pat, pmt] = segmentOf(picture(0));
  expect([pat?.pid, pmt?.pid]).toEqual([0, 0x1000]);
  const section = (packet: Packet | undefined) => {
    const payload = packet?.payload ?? new Uint8Array();
    const end = 4 + (((payload[2] ?? 0) & 0x0f) << 8) + (payload[3] ?? 0);
    return { section: Buffer.from(payload.subarray(1, end - 4)).toString("hex"), rest: new Set(payload.subarray(end)) };
  };
  expect(section(pat)).toEqual({ section: "00b00d0001c100000001f000", rest: new Set([0xff]) });
  expect(section(pmt)).toEqual({ section: "02b0170001c10000e100f0001be100f0000fe101f000", rest: new Set([0xff]) });
});

test("the clock is a tenth of a second before the pictures, in ticks of 90 kHz, with any bytes", () => {
  for (const decodeMs of [0, 1, 40, 2_800, 2_817, 364_088, 47_000_000]) {
    const first = segmentOf(picture(decodeMs)).find(({ pid }) => pid === 0x100) as Packet;
    expect({ decodeMs, clock: clockOf(first) }).toEqual({ decodeMs, clock: (decodeMs + 1_000 - 100) * 90 });
  }
});

test("only the first packet of a picture has the clock, and marks a key frame as an entry point", () => {
  const packets = segmentOf(picture(0, { bytes: unit(1_000) }), picture(40, { isKey: false })).filter(({ pid }) => pid === 0x100);
  const flags = packets.map(({ isFirst, adaptation }) => `${isFirst ? "first" : "next"} ${adaptation[1] ?? "none"}`);
  expect(flags).toEqual(["first 80", "next none", "next none", "next none", "next none", "next 0", "first 16"]);
  // The rest of a packet is filled with bytes whose bits are all 1.
  for (const { adaptation } of packets) for (const byte of adaptation.subarray(adaptation[1] === 0 ? 2 : 8)) expect(byte).toBe(0xff);
});

test("the packets of each stream are counted separately, modulo 16, through all segments", () => {
  const stream = new TransportStream();
  const counters = new Map<number, number[]>();
  for (let segment = 0; segment < 20; segment++) {
    expect(stream.isEmpty).toBe(true);
    stream.addPicture(picture(segment * 40));
    expect(stream.isEmpty).toBe(false);
    for (const { pid, counter } of packetsOf(stream.take())) counters.set(pid, [...(counters.get(pid) ?? []), counter]);
  }
  const wanted = Array.from({ length: 20 }, (_, at) => at % 16);
  expect([...counters]).toEqual([0, 0x1000, 0x100].map((pid) => [pid, wanted]));
});

test("audio has a stream of its own", () => {
  const stream = new TransportStream();
  stream.addSound(sound);
  expect(packetsOf(stream.take()).map(({ pid }) => pid)).toEqual([0, 0x1000, 0x101]);
});
