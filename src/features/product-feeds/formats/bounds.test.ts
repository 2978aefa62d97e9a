import { expect, test } from "bun:test";
import { ROW_CHARACTERS_MAX } from "../product-feeds.limits.ts";
import { FeedTextReader } from "./formats.ts";
import type { Warning } from "./rows.ts";

function open() {
  const rows: { readonly line: number; readonly id: string | undefined; readonly warnings: readonly Warning[] | undefined }[] = [];
  const bad: { readonly line: number; readonly reason: string }[] = [];
  const reader = new FeedTextReader(undefined, {
    row: (line, { retailer_id }, warnings) => rows.push({ line, id: retailer_id, warnings }),
    bad: (line, reason) => bad.push({ line, reason }),
    warn: () => {},
  });
  return { reader, rows, bad };
}

const HEADER = "retailer_id,name,url,image_url";

test.each([
  ["csv", `${HEADER}\n`, (id: string) => `${id},n,u,i\n`],
  ["jsonl", "", (id: string) => `{"id":"${id}"}\n`],
  ["xml", "<rss><channel>", (id: string) => `<item><guid>${id}</guid></item>`],
])("%s: rows are passed on while the file is still arriving", (_format, head, rowOf) => {
  const { reader, rows } = open();
  const many = Array.from({ length: 3_000 }, (_, at) => rowOf(`a${at}`)).join("");
  reader.push(head + many);
  expect(rows.length).toBeGreaterThan(2_000);
  const before = rows.length;
  reader.push(many + many);
  expect(rows.length).toBeGreaterThan(before + 3_000);
});

test("JSON lines: a line of the maximum length is a row, and a longer one is not, in one piece or several", () => {
  const line = (length: number): string => `{"id":"a","unknown":"${"x".repeat(length - '{"id":"a","unknown":""}'.length)}"}`;
  for (const pieces of [1, 3]) {
    for (const more of [0, 1]) {
      const { reader, rows, bad } = open();
      const text = `${line(ROW_CHARACTERS_MAX + more)}\n{"id":"b"}\n`;
      const size = Math.ceil(text.length / pieces);
      for (let at = 0; at < text.length; at += size) reader.push(text.slice(at, at + size));
      reader.end();
      expect(rows.map(({ id }) => id)).toEqual(more === 0 ? ["a", "b"] : ["b"]);
      expect(bad).toEqual(more === 0 ? [] : [{ line: 1, reason: `is longer than ${ROW_CHARACTERS_MAX} characters` }]);
    }
  }
});

test("CSV: the length of a row is that of its values, and a row that is too long affects no other", () => {
  const { reader, rows, bad } = open();
  const quoted = (characters: number): string => `"${'""'.repeat(characters)}"`;
  const separators = 3;
  const most = ROW_CHARACTERS_MAX - separators - "b".length - "ui".length;
  reader.push(`${HEADER}\na,n,u,i\nb,${quoted(most)},u,i\nc,n,u,i\nd,${quoted(most + 1)},u,i\ne,n,u,i\n`);
  reader.end();
  expect(rows.map(({ id }) => id)).toEqual(["a", "b", "c", "e"]);
  expect(bad).toEqual([{ line: 5, reason: `is longer than ${ROW_CHARACTERS_MAX} characters` }]);
});

test("CSV: a row of the maximum length is a row, and a longer one is not, in one piece, in several, or as a line", () => {
  const rowOf = (length: number): string => `a,n,u,i,${"x".repeat(length - "a,n,u,i,".length)}`;
  const head = `${HEADER},unknown\n`;
  for (const more of [0, 1]) {
    const row = rowOf(ROW_CHARACTERS_MAX + more);
    for (const pieces of [
      [`${head}${row}\nb,n,u,i\n`],
      [head, row, "\nb,n,u,i\n"],
      [head, row.slice(0, 500_000), `${row.slice(500_000)}\nb,n,u,i`],
    ]) {
      const { reader, rows, bad } = open();
      // The text is long enough for the reader to detect the format and begin.
      reader.push(head.replace("\n", "\n\n".repeat(10_000)));
      for (const piece of pieces) reader.push(piece.replace(head, ""));
      reader.end();
      expect(rows.map(({ id }) => id)).toEqual(more === 0 ? ["a", "b"] : ["b"]);
      expect(bad).toEqual(more === 0 ? [] : [{ line: 20_001, reason: `is longer than ${ROW_CHARACTERS_MAX} characters` }]);
    }
  }
});

test("CSV: a file with only an empty value is empty", () => {
  const { reader } = open();
  reader.push('""\n');
  expect(() => reader.end()).toThrow("the file is empty");
});

test("JSON lines: a file whose only line is too long is not empty", () => {
  const { reader, bad } = open();
  reader.push(`{"id":"${"x".repeat(ROW_CHARACTERS_MAX)}`);
  reader.end();
  expect(bad).toHaveLength(1);
});

test("JSON lines: a number keeps its digits while none is lost; beyond that the value is invalid, or the row if it is required", () => {
  const { reader, rows, bad } = open();
  const safe = Number.MAX_SAFE_INTEGER;
  reader.push(`{"id":${safe}}\n{"id":${-safe}}\n{"id":${safe + 1}}\n{"id":"c","brand":${safe + 1}}\n{"id":"d","brand":true,"title":null}\n`);
  reader.end();
  const warnings = [{ field: "brand", reason: "is not a string" }] as const;
  expect(rows).toEqual([
    { line: 1, id: String(safe), warnings: [] },
    { line: 2, id: String(-safe), warnings: [] },
    { line: 4, id: "c", warnings },
    { line: 5, id: "d", warnings },
  ]);
  expect(bad).toEqual([{ line: 3, reason: "retailer_id is not a string" }]);
});
