import { expect, test } from "bun:test";
import fc from "fast-check";
import { Filter, fingerprintOf, keyFingerprint, listFingerprint, Probe } from "./fingerprints.ts";
import { RequestTable } from "./request-table.ts";
import { collectInPage, pageBitsFor, pageOf, pagesOf } from "./run-pages.ts";

const texts = fc.array(fc.string({ unit: "binary", maxLength: 60 }), { minLength: 300, maxLength: 1_500 });

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
      for (const [call, text] of added.entries()) {
        const fingerprint = fingerprintOf(text);
        table.add(fingerprint, call);
        expected.set(fingerprint, [...(expected.get(fingerprint) ?? []), call]);
      }
      const filter = Filter.of(table.size);
      const probe = new Probe();
      for (const fingerprint of expected.keys()) filter.add(probe.set(fingerprint));
      const stored = Filter.fromBytes(filter.bytes);
      const pages = pagesOf([table], pageBits).map((values) => new Uint8Array(values.buffer));
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
