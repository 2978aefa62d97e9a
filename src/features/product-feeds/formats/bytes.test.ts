import { describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import type { RawItem } from "../product-feeds.items.ts";
import { type Bytes, textOf } from "./bytes.ts";
import { FeedTextReader } from "./formats.ts";
import type { FeedFormat } from "./rows.ts";

interface BadRow {
  readonly line: number;
  readonly reason: string;
}

interface Read {
  readonly format: FeedFormat | undefined;
  readonly rows: readonly (RawItem & { readonly line: number })[];
  readonly bad: readonly BadRow[];
}

async function* inPieces(bytes: Uint8Array, size: number): Bytes {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(file: string | Uint8Array, { size = 1 << 20, asked }: { size?: number; asked?: FeedFormat } = {}): Promise<Read> {
  const rows: (RawItem & { line: number })[] = [];
  const bad: BadRow[] = [];
  const reader = new FeedTextReader(asked, {
    row: (line, raw) => rows.push({ line, ...raw }),
    bad: (line, reason) => bad.push({ line, reason }),
    warn: () => {},
  });
  const bytes = typeof file === "string" ? Buffer.from(file) : file;
  for await (const text of textOf(inPieces(bytes, size))) reader.push(text);
  reader.end();
  return { format: reader.format, rows, bad };
}

const problemOf = (file: string | Uint8Array, options?: Parameters<typeof read>[1]) =>
  read(file, options).then(
    () => "no problem",
    (error: Error) => `${error.name}: ${error.message}`,
  );

const HEADER = "retailer_id,name,url,image_url";
const row = (id: string) => ({ retailer_id: id, name: `Book ${id}`, url: `https://a.example/${id}`, image_url: `https://a.example/${id}.png` });
const csvRow = (id: string) => Object.values(row(id)).join(",");
const idsOf = ({ rows }: Read) => rows.map(({ line, retailer_id }) => ({ line, id: retailer_id }));

describe("D-56: bytes", () => {
  const text = [HEADER, csvRow("a"), csvRow("ü😀")].join("\n");

  test("gzip is unpacked, a byte order mark is removed, and pieces can end within a character", async () => {
    for (const bytes of [Buffer.from(text), Buffer.from(`\uFEFF${text}`), gzipSync(text), gzipSync(`\uFEFF${text}`)]) {
      for (const size of [1, 5, 1 << 20]) {
        expect(idsOf(await read(bytes, { size }))).toEqual([
          { line: 2, id: "a" },
          { line: 3, id: "ü😀" },
        ]);
      }
    }
  });

  test("a file that ends within a character still has a last row, with a replacement character", async () => {
    const cut = Buffer.from(`${HEADER}\n${csvRow("ü")}`).subarray(0, -3);
    const half = Buffer.concat([cut, Buffer.from("😀").subarray(0, 3)]);
    expect((await read(half)).rows.map(({ image_url }) => image_url?.at(-1))).toEqual(["\uFFFD"]);
  });

  test("damaged gzip, UTF-16 and archives are refused with a reason", async () => {
    const packed = gzipSync(text);
    expect(await problemOf(packed.subarray(0, packed.length - 12))).toContain("gzip data is damaged or truncated");
    expect(await problemOf(Buffer.concat([packed.subarray(0, 20), Buffer.alloc(40, 7)]))).toContain("gzip data is damaged");
    expect(await problemOf(gzipSync(packed))).toContain("compressed twice");
    for (const encoded of [Buffer.from(`\uFEFF${text}`, "utf16le"), Buffer.from(text, "utf16le"), Buffer.from(`\uFEFF${text}`, "utf16le").swap16()])
      expect(await problemOf(encoded)).toContain("UTF-16");
    expect(await problemOf(Buffer.from("PK\u0003\u0004 and so on", "latin1"))).toContain("ZIP archive");
    expect(await problemOf(Buffer.alloc(0))).toContain("empty");
  });

  test("text that begins like a mark, a signature or UTF-16 is still text", async () => {
    // An archive begins with PK, gzip with 1F 8B, UTF-16 with FF FE or FE FF.
    for (const first of ["Plain", "SKU", "pk"]) expect(idsOf(await read(`${first},${HEADER}\nx,${csvRow("a")}`))).toEqual([{ line: 2, id: "a" }]);
    const beginning = (...bytes: number[]) => Buffer.concat([Buffer.from(bytes), Buffer.from(`,${HEADER}\nx,${csvRow("a")}`)]);
    for (const bytes of [
      [0x1f, 0x41],
      [0x41, 0x8b],
      [0xff, 0x41],
      [0x41, 0xfe],
      [0xfe, 0x41],
      [0x41, 0xff],
      [0x41, 0x00, 0x42, 0x43],
      [0x41, 0x42, 0x43, 0x00],
    ])
      expect({ bytes, ids: idsOf(await read(beginning(...bytes))) }).toEqual({ bytes, ids: [{ line: 2, id: "a" }] });
  });

  test("UTF-16 and UTF-32 are recognized by their marks and by their zeros, in either byte order", async () => {
    for (const bytes of [
      [0xff, 0xfe, 0x41, 0x00],
      [0xfe, 0xff, 0x00, 0x41],
      [0x00, 0x41, 0x00, 0x42],
      [0x41, 0x00, 0x42, 0x00],
      [0x00, 0x00, 0xfe, 0xff],
      [0x00, 0x00, 0x00, 0x41],
    ])
      expect({ bytes, problem: await problemOf(Buffer.from(bytes)) }).toEqual({
        bytes,
        problem: "FeedFileProblem: the file is UTF-16 or UTF-32; feeds must be UTF-8",
      });
  });

  test("the format is recognized from the first line with content, unless it is given", async () => {
    const formatOf = async (text: string, asked?: FeedFormat) => (await read(text, asked === undefined ? {} : { asked })).format;
    const [tabbed, semicolons] = ["\t", ";"].map((delimiter) => HEADER.replaceAll(",", delimiter)) as [string, string];
    expect([await formatOf(`\n \n${tabbed}\n`), await formatOf(`${HEADER}\na\tb,c,d,e`)]).toEqual(["tsv", "csv"]);
    expect(idsOf(await read(`\n${semicolons};other,name\na;n,1|2;u;i`))).toEqual([{ line: 3, id: "a" }]);
    expect(idsOf(await read(`${tabbed}\na\tn\tu\ti`, { asked: "tsv" }))).toEqual([{ line: 2, id: "a" }]);
    expect(await problemOf(`${tabbed}\na\tn\tu\ti`, { asked: "csv" })).toContain("no column for");
    expect(await problemOf("<rss/>", { asked: "jsonl" })).toBe("no problem");
    for (const [text, format] of [
      ["  <rss/>", "xml"],
      ['\n{"id":"a"}', "jsonl"],
    ] as const)
      expect(await formatOf(text)).toBe(format);
  });
});
