import { expect, test } from "bun:test";
import { adtsFrame, readAacConfig } from "./aac.ts";
import { MediaProblem } from "./bits.ts";

/** An AudioSpecificConfig, which consists of three numbers of five, four and four bits. */
const configOf = (objectType: number, rateIndex: number, channels: number): Uint8Array => {
  const bits = (objectType << 11) | (rateIndex << 7) | (channels << 3);
  return Uint8Array.of(bits >> 8, bits & 0xff);
};

test("ISO/IEC 14496-3: the thirteen sample rates have numbers, and there are no others", () => {
  const rates = [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350];
  expect(rates.map((_, index) => readAacConfig(configOf(2, index, 1)).sampleRate)).toEqual(rates);
  for (const index of [13, 14, 15]) expect(() => readAacConfig(configOf(2, index, 1))).toThrow(MediaProblem);
});

test("one to seven channels, and the object types of ADTS; a high-efficiency one is played as AAC LC", () => {
  const profileOf = (objectType: number): number | undefined => {
    try {
      return readAacConfig(configOf(objectType, 4, 2)).profile;
    } catch {
      return undefined;
    }
  };
  expect(Array.from({ length: 31 }, (_, type) => profileOf(type))).toEqual(
    Array.from({ length: 31 }, (_, type) => (type === 5 || type === 29 ? 1 : type >= 1 && type <= 4 ? type - 1 : undefined)),
  );
  for (const channels of [1, 7]) expect(readAacConfig(configOf(2, 4, channels)).channels).toBe(channels);
  for (const channels of [0, 8]) expect(() => readAacConfig(configOf(2, 4, channels))).toThrow(MediaProblem);
  expect(() => readAacConfig(configOf(2, 4, 2).subarray(0, 1))).toThrow(MediaProblem);
});

test("ISO/IEC 14496-3, 1.A.2.2: a frame has a header of seven bytes, with its length in 13 bits", () => {
  const config = readAacConfig(configOf(2, 4, 2));
  const frame = adtsFrame(config, new Uint8Array(0x1234 - 7).fill(9));
  expect([...frame.subarray(0, 8)]).toEqual([0xff, 0xf1, 0x50, 0x82, 0x46, 0x9f, 0xfc, 9]);
  expect(frame.length).toBe(0x1234);
  expect(adtsFrame(config, new Uint8Array(0x1f_ff - 7)).length).toBe(0x1f_ff);
  expect(() => adtsFrame(config, new Uint8Array(0x2000 - 7))).toThrow(MediaProblem);
});
