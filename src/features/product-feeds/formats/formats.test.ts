import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { RawItem } from "../product-feeds.items.ts";
import { ROW_CHARACTERS_MAX, VALUE_CHARACTERS_MAX } from "../product-feeds.limits.ts";
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

describe("D-56: CSV and TSV", () => {
  test("rows have the number of their first line, with any line ends and any chunks", async () => {
    const lines = [HEADER, csvRow("a"), "", 'b,"two\nlines, ""quoted""",https://a.example/b,https://a.example/b.png', csvRow("c")];
    for (const end of ["\n", "\r\n"]) {
      for (const size of [1, 2, 7, 1 << 20]) {
        const { rows, bad, format } = await read(lines.join(end), { size });
        expect(format).toBe("csv");
        expect(bad).toEqual([]);
        expect(rows.map(({ line, retailer_id, name }) => ({ line, retailer_id, name }))).toEqual([
          { line: 2, retailer_id: "a", name: "Book a" },
          { line: 4, retailer_id: "b", name: 'two\nlines, "quoted"' },
          { line: 6, retailer_id: "c", name: "Book c" },
        ]);
        expect(rows[2]?.image_url?.trim()).toBe("https://a.example/c.png");
      }
    }
    expect(idsOf(await read([HEADER, csvRow("a"), csvRow("b")].join("\r")))).toEqual([
      { line: 2, id: "a" },
      { line: 3, id: "b" },
    ]);
  });

  test("the delimiter is detected in the header, and common forms of names are accepted", async () => {
    for (const [delimiter, format] of [
      ["\t", "tsv"],
      [";", "csv"],
      ["|", "csv"],
    ] as const) {
      const text = `id${delimiter}Title${delimiter}link${delimiter}g:image_link${delimiter}unknown\n${csvRow("a").replaceAll(",", delimiter)}${delimiter}x`;
      const found = await read(text);
      expect(found.format).toBe(format);
      expect(found.rows).toEqual([{ line: 2, ...row("a") }]);
    }
    const both = await read(`id,retailer_id,name,title,url,image_url\nwrong,a,Book a,wrong,https://a.example/a,https://a.example/a.png`);
    expect(both.rows).toEqual([{ line: 2, ...row("a") }]);
  });

  test("a row with wrong quotes is reported, and the rows after it are read", async () => {
    for (const size of [1, 13, 1 << 20]) {
      const rows = (count: number) => Array.from({ length: count }, (_, at) => csvRow(`n${at}`));
      const unclosed = 'bad,"never closed,https://a.example/x,https://a.example/x.png';
      const behind = 'worse,"quoted" and more,https://a.example/x,https://a.example/x.png';
      const quoted = 'q,"fine, ""really""",https://a.example/q,https://a.example/q.png';
      const found = await read([HEADER, csvRow("a"), unclosed, csvRow("b"), behind, quoted, ...rows(30), unclosed].join("\n"), { size });
      expect(found.bad).toEqual([
        { line: 3, reason: "text follows a closing quote" },
        { line: 5, reason: "text follows a closing quote" },
        { line: 37, reason: "a quote is not closed" },
      ]);
      expect(idsOf(found).slice(0, 4)).toEqual([
        { line: 2, id: "a" },
        { line: 4, id: "b" },
        { line: 6, id: "q" },
        { line: 7, id: "n0" },
      ]);
      expect(found.rows).toHaveLength(33);
    }
  });

  test("a row with more values than columns and a row that is too long are bad rows", async () => {
    const long = `l,${"x".repeat(ROW_CHARACTERS_MAX)},u,i`;
    for (const size of [1 << 10, 1 << 20]) {
      const found = await read([HEADER, `${csvRow("a")},more`, csvRow("b"), long, csvRow("c"), `${csvRow("d")},,`, "e"].join("\n"), { size });
      expect(found.bad).toEqual([
        { line: 2, reason: "has 5 values for 4 columns" },
        { line: 4, reason: `is longer than ${ROW_CHARACTERS_MAX} characters` },
      ]);
      expect(idsOf(found)).toEqual([
        { line: 3, id: "b" },
        { line: 5, id: "c" },
        { line: 6, id: "d" },
        { line: 7, id: "e" },
      ]);
    }
  });

  test("an unknown column is never an error, with any number and length of values", async () => {
    const html = `"${'<p>a ""quoted"" line</p>\n'.repeat(8_000)}"`;
    const many = Array.from({ length: 3_000 }, (_, at) => `unknown_${at}`).join(",");
    const lines = [`html,plain,${HEADER},${many}`, `${html},${"x".repeat(200_000)},${csvRow("a")}`, `,,${csvRow("b")}`, `${html},,${csvRow("c")}`];
    for (const size of [1 << 14, 1 << 20]) {
      const found = await read(lines.join("\n"), { size });
      expect(found.bad).toEqual([]);
      expect(idsOf(found)).toEqual([
        { line: 2, id: "a" },
        { line: 8_003, id: "b" },
        { line: 8_004, id: "c" },
      ]);
    }
  });

  test("a row with an unclosed quote in a long file is skipped and reported", async () => {
    const rows = Array.from({ length: 3_000 }, (_, at) => csvRow(`n${at}`));
    const found = await read([HEADER, 'bad,"open,https://a.example/x,https://a.example/x.png', ...rows].join("\n"), { size: 4_096 });
    expect(found.bad).toEqual([{ line: 2, reason: "a quote is not closed" }]);
    expect(idsOf(found).at(-1)).toEqual({ line: 3_002, id: "n2999" });
    expect(found.rows).toHaveLength(3_000);
  });

  test("a header without required fields fails the file", async () => {
    expect(await problemOf("name,url\na,b")).toBe("FeedFileProblem: the header has no column for retailer_id, image_url");
    expect(await problemOf("retailer_id,name,url\na,b,c")).toBe("FeedFileProblem: the header has no column for image_url");
    expect(await problemOf(`${HEADER},"x\n${csvRow("a")}`)).toBe("FeedFileProblem: the header cannot be read: line 1: a quote is not closed");
    expect(await problemOf(" \n ")).toBe("FeedFileProblem: the file is empty");
    expect((await read(HEADER)).rows).toEqual([]);
  });

  test("any values written by RFC 4180 are read back, at any size of piece", async () => {
    const value = fc.string({ unit: "binary", maxLength: 12 }).map((text) => text.toWellFormed());
    const table = fc.array(fc.tuple(value, value, value, value), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(table, fc.integer({ min: 1, max: 40 }), fc.constantFrom(",", "\t"), async (values, size, delimiter) => {
        const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
        const text = [HEADER.replaceAll(",", delimiter), ...values.map((cells) => cells.map(quoted).join(delimiter))].join("\n");
        const { rows, bad } = await read(text, { size });
        expect(bad).toEqual([]);
        expect(rows.map(({ retailer_id, name, url, image_url }) => [retailer_id, name, url, image_url])).toEqual(values);
      }),
      { numRuns: 200 },
    );
  });
});

describe("D-56: JSON lines", () => {
  test("objects are rows; other values are bad rows", async () => {
    const lines = [
      JSON.stringify({ ...row("a"), price: 12.5, rating_count: 3, unknown: {} }),
      "",
      '{"id":"b"',
      "[]",
      "7",
      '{"id":["b"]}',
      '{"id":1e300}',
    ];
    for (const size of [1, 1 << 20]) {
      const found = await read([...lines, JSON.stringify({ id: 7, title: null }), '{"retailer_id":"own","id":"other"}'].join("\r\n"), { size });
      expect(found.format).toBe("jsonl");
      expect(found.rows).toEqual([
        { line: 1, ...row("a"), price: "12.5", rating_count: "3" },
        { line: 8, retailer_id: "7" },
        { line: 9, retailer_id: "own" },
      ]);
      expect(found.bad).toEqual([
        { line: 3, reason: "is not valid JSON" },
        { line: 4, reason: "is not a JSON object" },
        { line: 5, reason: "is not a JSON object" },
        { line: 6, reason: "retailer_id is not a string" },
        { line: 7, reason: "retailer_id is not a string" },
      ]);
    }
  });

  test("a line that is too long is skipped to its end", async () => {
    const long = JSON.stringify({ id: "x".repeat(3 * ROW_CHARACTERS_MAX) });
    for (const size of [1 << 12, 1 << 20]) {
      const found = await read(['{"id":"a"}', long, '{"id":"b"}'].join("\n"), { size });
      expect(found.bad).toEqual([{ line: 2, reason: `is longer than ${ROW_CHARACTERS_MAX} characters` }]);
      expect(idsOf(found)).toEqual([
        { line: 1, id: "a" },
        { line: 3, id: "b" },
      ]);
    }
  });

  test("a JSON list is refused", async () => {
    expect(await problemOf('[{"id":"a"}]')).toContain("JSON list");
  });
});

describe("D-56: RSS and Atom", () => {
  const rss = `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:g="http://base.example/ns" xmlns:media="http://media.example/">
<channel><title>Shop</title><link>https://a.example</link>
<item>
  <g:id>a</g:id><guid>other</guid><title>Tom &amp; &#x4A;erry</title><link>https://a.example/a</link>
  <g:image_link>https://a.example/a.png</g:image_link>
  <description><![CDATA[<p>Bold</p>]]></description><pubDate>Sat, 21 Nov 2026 10:00:00 +0000</pubDate><g:price>12.50 EUR</g:price>
</item>
<item><guid>b</guid><title>B</title><link>https://a.example/b</link><enclosure url="https://a.example/b.png" type="image/png"/></item>
<item><guid>c</guid><media:group><media:thumbnail url="https://a.example/c.png"/></media:group><enclosure url="x.mp3" type="audio/mpeg"/></item>
</channel></rss>`;

  test("items of RSS are read, with the names and pictures of its extensions", async () => {
    for (const size of [1, 17, 1 << 20]) {
      const found = await read(rss, { size });
      expect(found.format).toBe("xml");
      expect(found.rows[0]).toEqual({
        line: 4,
        retailer_id: "a",
        name: "Tom & Jerry",
        url: "https://a.example/a",
        image_url: "https://a.example/a.png",
        description: "<p>Bold</p>",
        date_published: "Sat, 21 Nov 2026 10:00:00 +0000",
        price: "12.50 EUR",
      });
      expect(found.rows.slice(1)).toEqual([
        { line: 9, retailer_id: "b", name: "B", url: "https://a.example/b", image_url: "https://a.example/b.png" },
        { line: 10, retailer_id: "c", image_url: "https://a.example/c.png" },
      ]);
    }
  });

  test("entries of Atom are read, with links and authors", async () => {
    const atom = `<feed xmlns="http://www.w3.org/2005/Atom"><title>Shop</title>
<entry><id>a</id><title>A</title><link rel="self" href="https://a.example/self"/><link href="https://a.example/a"/>
<link rel="enclosure" type="image/png" href="https://a.example/a.png"/>
<author><email>ann@a.example</email><name>Ann</name><uri>https://ann.example</uri></author><published>2026-11-21T10:00:00Z</published></entry>
</feed>`;
    expect((await read(atom)).rows).toEqual([
      {
        line: 2,
        retailer_id: "a",
        name: "A",
        url: "https://a.example/a",
        image_url: "https://a.example/a.png",
        author: "Ann",
        date_published: "2026-11-21T10:00:00Z",
      },
    ]);
  });

  test("XML that is not well-formed, truncated, of another kind or encoding fails the file", async () => {
    expect(await problemOf(rss.slice(0, -10))).toContain("not well-formed");
    expect(await problemOf(rss.replace("</title>", "</titel>"))).toContain("not well-formed: line 3");
    expect(await problemOf(rss.replace("&amp;", "&nbsp;"))).toContain("not well-formed");
    expect(await problemOf("<!DOCTYPE html><html><body>Not found</body></html>")).toContain("root element is html");
    expect(await problemOf(rss.replace("UTF-8", "ISO-8859-1"))).toContain("encoding ISO-8859-1");
  });

  test("entities of a document type are not expanded, and the length of a text is limited", async () => {
    const bomb = `<!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;">]><rss><channel><item><title>&b;</title></item></channel></rss>`;
    expect(await problemOf(bomb)).toContain("not well-formed");
    expect(await problemOf(`<rss><channel><item><title>${"x".repeat(9 * ROW_CHARACTERS_MAX)}`, { size: 1 << 14 })).toContain("is longer than");
    const long = `<rss><channel><item><title>${"x".repeat(2 * VALUE_CHARACTERS_MAX)}</title></item><item><guid>b</guid></item></channel></rss>`;
    const found = await read(long);
    expect(found.bad).toEqual([]);
    // A reader keeps only the beginning of a long value; the kept text is still longer than the limit of its field.
    expect(found.rows.map(({ retailer_id, name = "" }) => ({ retailer_id, isLong: name.length > VALUE_CHARACTERS_MAX }))).toEqual([
      { retailer_id: undefined, isLong: true },
      { retailer_id: "b", isLong: false },
    ]);
  });
});
