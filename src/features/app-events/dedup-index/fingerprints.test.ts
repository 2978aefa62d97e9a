import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { Filter, fingerprintOf, keyFingerprint, listFingerprint, lowOf, Probe } from "./fingerprints.ts";
import { RequestTable } from "./pending-entries.ts";
import { collectInPage, pageBitsFor, pageOf, pagesOf } from "./runs.ts";

const texts = fc.array(fc.string({ unit: "binary", maxLength: 60 }), { minLength: 300, maxLength: 1_500 });

/** As the driver of PostgreSQL gives bytes: in the middle of what it has received, at any place. */
function inside(bytes: Uint8Array): Uint8Array {
  const received = new Uint8Array(bytes.length + 5).fill(1);
  received.set(bytes, 3);
  return received.subarray(3, 3 + bytes.length);
}

test("a fingerprint is a number of 53 bits above 0, the same for the same text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (name, id) => {
      const text = `${name}\n${id}`;
      const fingerprint = keyFingerprint(name, id);
      expect(Number.isSafeInteger(fingerprint) && fingerprint > 0).toBeTrue();
      expect(fingerprintOf(text)).toBe(fingerprint);
    }),
  );
});

test("a table, its filter and its pages find every added request", () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 0, max: 8 }), (added, pageBits) => {
      const table = new RequestTable();
      const expected = new Map<number, number[]>();
      for (const [request, text] of added.entries()) {
        const fingerprint = fingerprintOf(text);
        table.add(fingerprint, request);
        expected.set(fingerprint, [...(expected.get(fingerprint) ?? []), request]);
      }
      const filter = Filter.of(table.size);
      const probe = new Probe();
      for (const fingerprint of expected.keys()) filter.add(probe.set(fingerprint));
      const stored = Filter.fromBytes(filter.bytes);
      const pages = pagesOf([table], pageBits).map((values) => inside(new Uint8Array(values.buffer)));
      for (const [fingerprint, requests] of expected) {
        const inTable: number[] = [];
        table.collect(fingerprint, inTable);
        const inPage: number[] = [];
        collectInPage(pages[pageOf(fingerprint, pageBits)] as Uint8Array, fingerprint, inPage);
        expect(inTable.sort((a, b) => a - b)).toEqual(requests);
        expect(inPage.sort((a, b) => a - b)).toEqual(requests);
        expect(stored.mayHold(probe.set(fingerprint))).toBeTrue();
      }
    }),
    { numRuns: 30 },
  );
});

test("a filter has few false positives, and pages are filled evenly", () => {
  const count = 100_000;
  const table = new RequestTable();
  const filter = Filter.of(count);
  const probe = new Probe();
  for (let i = 0; i < count; i++) {
    table.add(fingerprintOf(`present ${i}`), i);
    filter.add(probe.set(fingerprintOf(`present ${i}`)));
  }
  let wrong = 0;
  for (let i = 0; i < count; i++) if (filter.mayHold(probe.set(fingerprintOf(`absent ${i}`)))) wrong++;
  expect(wrong / count).toBeLessThan(0.01);
  const bytes = pagesOf([table], pageBitsFor(count)).map((page) => page.byteLength);
  expect(Math.max(...bytes)).toBeLessThan(8_192);
  expect(bytes.reduce((sum, each) => sum + each, 0)).toBe(count * 16);
});

test("a table finds the requests of fingerprints that have very many, the last added first", () => {
  const table = new RequestTable();
  const [many, ...few] = ["many", "a", "b"].map(fingerprintOf) as [number, number, number];
  for (let request = 1; request <= 50_000; request++) {
    table.add(many, request);
    if (request % 10_000 === 0) for (const fingerprint of few) table.add(fingerprint, request);
  }
  expect(table.size).toBe(50_010);
  const newest: number[] = [];
  table.visitNewest(many, (request) => newest.push(request) < 3);
  expect(newest).toEqual([50_000, 49_999, 49_998]);
  const all: number[] = [];
  table.collect(many, all);
  expect(all).toEqual(Array.from({ length: 50_000 }, (_, at) => 50_000 - at));
  for (const fingerprint of few) {
    const found: number[] = [];
    table.collect(fingerprint, found);
    expect(found).toEqual([50_000, 40_000, 30_000, 20_000, 10_000]);
  }
});

test("of 200,000 keys, and of as many lists, no two have one fingerprint: all 53 bits tell them apart, not half of them", () => {
  // Of 32 bits, some five pairs would be equal.
  const all = Array.from({ length: 200_000 }, (_, at) => at);
  expect(new Set(all.map((at) => keyFingerprint(`name ${at % 7}`, `id ${at}`))).size).toBe(all.length);
  expect(new Set(all.map((at) => fingerprintOf(`text ${at}`))).size).toBe(all.length);
  expect(new Set(all.map((at) => listFingerprint([fingerprintOf(`one ${at}`), fingerprintOf(`two ${at}`)]))).size).toBe(all.length);
});

test("fingerprints and filters are those of the first release: with others, nothing that is stored would be found", () => {
  expect(["", "device:a", "cookie:äöü", `em:${"1".repeat(64)}`].map(fingerprintOf)).toEqual([
    1669454239796611, 5804963032201193, 2234255153717999, 2116929370925460,
  ]);
  expect([keyFingerprint("buy", "e-1"), keyFingerprint("", ""), lowOf(fingerprintOf("device:a"))]).toEqual([
    2295649025814334, 7342452209932299, 1199044585,
  ]);
  const [a, b] = [fingerprintOf("a"), fingerprintOf("b")];
  expect([[], [1], [a, b], [b, a]].map(listFingerprint)).toEqual([1669454239796611, 8452740698563587, 3392764508603516, 740544495489612]);
  const filter = Filter.of(100);
  const probe = new Probe();
  for (let i = 0; i < 100; i++) filter.add(probe.set(fingerprintOf(`present ${i}`)));
  expect(createHash("sha256").update(filter.bytes).digest("hex")).toBe("d83d192e33b0f0be4748e7b087d79779327cf7f2a8cbe4cfaa1d74ab2aac87c7");
});

test("a filter has 16 bits or more for each entry, and as many blocks as a power of two", () => {
  expect([0, 1, 32, 33, 64, 65].map((count) => Filter.of(count).bytes.length)).toEqual([64, 64, 64, 128, 128, 256]);
});

test("one bit that is missing is enough to tell that a fingerprint is absent", () => {
  const filter = Filter.of(1);
  const probe = new Probe();
  filter.add(probe.set(fingerprintOf("present")));
  const bits = filter.bytes;
  let missing = 0;
  for (let bit = 0; bit < 512; bit++) {
    const [at, mask] = [bit >> 3, 1 << (bit & 7)];
    if (((bits[at] as number) & mask) === 0) continue;
    const without = Filter.fromBytes(bits);
    without.bytes[at] = (bits[at] as number) & ~mask;
    expect(without.mayHold(probe)).toBe(false);
    missing++;
  }
  expect(missing).toBe(6);
});

test("a page holds at most some 240 entries of 16 bytes, and never fewer bits of a fingerprint choose it than are needed", () => {
  expect([0, 1, 240, 241, 480, 481, 960].map(pageBitsFor)).toEqual([0, 0, 0, 1, 1, 2, 2]);
  expect([pageOf(2 ** 31 - 1, 3), pageOf(2 ** 30, 3), pageOf(2 ** 31, 3), pageOf(5, 0)]).toEqual([7, 4, 0, 0]);
});
