/**
 * Tests files as programs and people write them, with their line ends, quotes, lines above the header and repeated columns, and that the rows do not
 * depend on where the file is cut.
 */
import { describe, expect, test } from "bun:test";
import { deflateRawSync, deflateSync } from "node:zlib";
import type { ItemField } from "../product-feeds.items.ts";
import { type Bytes, textOf } from "./bytes.ts";
import { FeedTextReader } from "./formats.ts";

interface Read {
  readonly rows: readonly { readonly line: number; readonly id: string | undefined; readonly name: string | undefined; readonly picture: string }[];
  readonly bad: readonly { readonly line: number; readonly reason: string }[];
  readonly warnings: readonly { readonly line: number; readonly field: ItemField; readonly reason: string }[];
  readonly problem?: string;
}

/** Reads a file that arrives in the given pieces. */
async function read(...pieces: (string | Uint8Array)[]): Promise<Read> {
  const found = { rows: [] as Read["rows"][number][], bad: [] as Read["bad"][number][], warnings: [] as Read["warnings"][number][] };
  const reader = new FeedTextReader(undefined, {
    row: (line, { retailer_id, name, image_url = "" }) => found.rows.push({ line, id: retailer_id, name, picture: image_url.trim() }),
    bad: (line, reason) => found.bad.push({ line, reason }),
    warn: (line, field, reason) => found.warnings.push({ line, field, reason }),
  });
  async function* file(): Bytes {
    for (const piece of pieces) yield typeof piece === "string" ? Buffer.from(piece) : piece;
  }
  try {
    for await (const text of textOf(file())) reader.push(text);
    reader.end();
    return found;
  } catch (error) {
    return { ...found, problem: (error as Error).message };
  }
}

const PICTURE = "https://shop.example/i/1.jpg";
const HEADER = "id,title,link,image_link";
const rowOf = (id: string) => `${id},T,https://shop.example/p/1,${PICTURE}`;
const quotedLine = (line: string, delimiter = ",") =>
  line
    .split(",")
    .map((value) => `"${value}"`)
    .join(delimiter);
const items = (...found: [line: number, id: string][]) => found.map(([line, id]) => ({ line, id, name: "T", picture: PICTURE }));

describe("D-313: files as programs write them", () => {
  test.each([
    ["CRLF and a quoted last column", [quotedLine(HEADER), quotedLine(rowOf("1")), ""].join("\r\n")],
    ["CRLF, a quoted last column, no last line end", [quotedLine(HEADER), quotedLine(rowOf("1"))].join("\r\n")],
    ["TSV with CRLF and quotes", [quotedLine(HEADER, "\t"), quotedLine(rowOf("1"), "\t"), ""].join("\r\n")],
    ["blanks after quotes", [quotedLine(HEADER), quotedLine(rowOf("1")), ""].join(" \n")],
    ["blanks between a quote and a delimiter", [quotedLine(HEADER), quotedLine(rowOf("1"), " ,")].join("\t\n")],
    ["CR alone", [quotedLine(HEADER), quotedLine(rowOf("1")), ""].join("\r")],
  ])("%s: each row is an item", async (_title, file) => {
    expect(await read(file)).toEqual({ rows: items([2, "1"]), bad: [], warnings: [] });
  });

  const comments = "# Required | A unique ID,# Required | A title,# Required | The page,# Required | The picture";
  test.each([
    ["a row of comments", `${comments}\n${HEADER}\n${rowOf("1")}\n`, 3],
    ["comments after a byte order mark", `\uFEFF${comments}\r\n${HEADER}\r\n${rowOf("1")}`, 3],
    ["comments with line breaks in quotes", `"# a;\nb",# c\n${HEADER}\n${rowOf("1")}\n`, 4],
    ["sep=;", `sep=;\r\n${[HEADER, rowOf("1")].join("\r\n").replaceAll(",", ";")}\r\n`, 3],
    ["sep= in quotes, of another character", `"sep=^"\n${[HEADER, rowOf("1")].join("\n").replaceAll(",", "^")}\n`, 3],
    ["sep= with a tab", `sep=\t\n${[HEADER, rowOf("1")].join("\n").replaceAll(",", "\t")}\n`, 3],
    ["blank lines and rows of commas", `\n \n,,,\n;;\n${HEADER}\n${rowOf("1")}\n`, 6],
    ["a comment that has more semicolons than the header has commas", `# a;b;c;d;e;f;g;h\n${HEADER}\n${rowOf("1")}\n`, 3],
  ])("the header is the first line that names columns: below %s", async (_title, file, line) => {
    expect(await read(file)).toEqual({ rows: items([line, "1"]), bad: [], warnings: [] });
  });

  test("rows of commas only are ignored, quoted or not; a comment below the header is a row", async () => {
    const file = [HEADER, rowOf("1"), ...new Array(50).fill(",,,"), '"","",,', " , ,\t,", rowOf("2"), "#3,,,"].join("\n");
    const { rows, bad } = await read(file);
    expect({ ids: rows.map(({ line, id }) => ({ line, id })), bad }).toEqual({
      ids: [
        { line: 2, id: "1" },
        { line: 55, id: "2" },
        { line: 56, id: "#3" },
      ],
      bad: [],
    });
  });

  test("the first value of a repeated column or element is used, and reported once", async () => {
    const csv = await read(`id,title,title,link,image_link\n1,T,other,https://shop.example/p/1,${PICTURE}\n`);
    expect(csv).toEqual({
      rows: items([2, "1"]),
      bad: [],
      warnings: [{ line: 1, field: "name", reason: "the column is repeated; its first value is used" }],
    });
    const item = `<item><guid>1</guid><title>T</title><title>other</title><image_link>${PICTURE}</image_link></item>`;
    const xml = await read(`<rss><channel>\n${item}\n${item}</channel></rss>`);
    expect(xml).toEqual({
      rows: items([2, "1"], [3, "1"]),
      bad: [],
      warnings: [{ line: 2, field: "name", reason: "the element is repeated; its first value is used" }],
    });
    const authors = "<item><guid>1</guid><author>\n<email>a@a.example</email><name>Ann</name></author></item>";
    expect((await read(`<rss><channel>${authors}</channel></rss>`)).warnings).toEqual([]);
  });

  test("a raw & in XML is reported on its own line", async () => {
    const lines = (address: string) => [
      "<rss>",
      "<channel>",
      "<item>",
      `<link>${address}</link>`,
      "</item>",
      "<item>",
      "<title>a &amp; b; c</title>",
    ];
    for (const address of ["https://shop.example/?a=1&b=2", "a & b", "&nbsp;", "&", "&#xZZ;"]) {
      for (const end of ["\n", "\r\n"]) {
        const { problem } = await read([...lines(address), "</item></channel></rss>"].join(end));
        expect({ address, problem }).toEqual({ address, problem: expect.stringContaining("line 4: this & must be written as &amp;") });
      }
    }
    const right = ["<![CDATA[ a & b ]]>", "a &amp; &lt;&#38;&#x26;", "<!-- & -->x"];
    for (const address of right) expect((await read([...lines(address), "</item></channel></rss>"].join("\n"))).problem).toBeUndefined();
    // The error names the line of the wrong ampersand, although a CDATA section before it contains an ampersand, too.
    const { problem } = await read([...lines("<![CDATA[ a & b ]]>"), "<link>x&y</link>", "</item></channel></rss>;"].join("\n"));
    expect(problem).toContain("line 8: this &");
  });

  test("the error names compressions other than gzip", async () => {
    for (const level of [1, 3, 6, 9])
      expect((await read(deflateSync(HEADER, { level }))).problem).toBe("the file is compressed with deflate; only gzip is unpacked");
    for (const [name, bytes] of [
      ["bzip2", [0x42, 0x5a, 0x68, 0x39]],
      ["xz", [0xfd, 0x37, 0x7a, 0x58]],
      ["zstd", [0x28, 0xb5, 0x2f, 0xfd]],
      ["7-Zip", [0x37, 0x7a, 0xbc, 0xaf]],
    ] as const)
      expect((await read(Buffer.from([...bytes, 0, 1]))).problem).toBe(`the file is compressed with ${name}; only gzip is unpacked`);
    const file = [HEADER, ...Array.from({ length: 500 }, (_, at) => rowOf(`${at}`))].join("\n");
    for (const [level, strategy] of [0, 1, 6, 9].flatMap((one) => [0, 4].map((other) => [one, other] as const))) {
      const packed = deflateRawSync(file, { level, strategy });
      for (const pieces of [[packed], [packed.subarray(0, 5), packed.subarray(5)]])
        expect({ level, strategy, problem: (await read(...pieces)).problem }).toEqual({
          ...{ level, strategy, problem: "the file is compressed with deflate; only gzip is unpacked" },
        });
    }
    // Plaza does not mistake text in another encoding for deflate data.
    const latin = Buffer.from([HEADER, `1,Caf\u00e9,https://shop.example/p/1,${PICTURE}`].join("\n"), "latin1");
    expect((await read(latin)).rows.map(({ name }) => name)).toEqual(["Caf\ufffd"]);
    expect((await read(`xz,${HEADER}\nx,${rowOf("1")}`)).rows).toEqual(items([2, "1"]));
  });
});

/** A reader begins when it has received this number of characters, so each test file has a long value or comment near its beginning. */
const LONG = "x".repeat(16_384);

describe("any cut gives the same rows", () => {
  /** Expects that a file has the same rows no matter where it is cut: `first` arrives whole, and `rest` is cut at each byte in turn. */
  async function expectNoDifference(first: string, rest: string, expected: readonly { line: number; id: string; name: string }[]): Promise<void> {
    const [head, bytes] = [Buffer.from(first), Buffer.from(rest)];
    const whole = await read(head, bytes);
    expect(whole).toMatchObject({ bad: [], warnings: [] });
    expect(whole.problem).toBeUndefined();
    expect(whole.rows.map(({ line, id, name }) => ({ line, id: id?.trim(), name }))).toEqual([...expected]);
    for (let cut = 0; cut <= bytes.length; cut++) {
      const parts = await read(Buffer.concat([head, bytes.subarray(0, cut)]), bytes.subarray(cut));
      if (!Bun.deepEquals(parts, whole)) expect({ cut, ...parts }).toEqual({ cut, ...whole });
    }
  }

  const lineEnds = { LF: "\n", CRLF: "\r\n", CR: "\r" };
  const quotings = {
    none: (value: string) => value,
    all: (value: string) => `"${value.replaceAll('"', '""')}"`,
    "all, with blanks": (value: string) => `"${value.replaceAll('"', '""')}" \t`,
  };
  const table = Object.entries(lineEnds).flatMap(([end, newline]) =>
    Object.entries(quotings).map(([name, quoted]) => ({ end, newline, name, quoted })),
  );

  test.each(table)("CSV and TSV with $end, quotes: $name", async ({ newline, name, quoted }) => {
    for (const delimiter of [",", "\t"]) {
      if (delimiter === "\t" && name === "all, with blanks") continue;
      for (const lastEnd of [newline, ""]) {
        const names = ["ü😀", name === "none" ? 'a 5" screen' : `two${newline}lines, "quoted"`, "last"];
        const row = (id: string, title: string) => [id, title, "https://shop.example/p/1", PICTURE, ""].map(quoted).join(delimiter);
        const lines = names.map((title, at) => row(String(at), title)).join(newline);
        const head = [...HEADER.split(","), "unknown"].join(delimiter) + newline + ["first", "T", "u", PICTURE, LONG].join(delimiter);
        const expected = names.map((title, at) => ({
          ...{ line: 3 + at + (at === 2 && name !== "none" ? 1 : 0), id: String(at) },
          name: newline === "\r" ? title.replaceAll("\r", "\n") : title,
        }));
        await expectNoDifference(head, newline + lines + lastEnd, [{ line: 2, id: "first", name: "T" }, ...expected]);
      }
    }
  });

  test.each(Object.entries(lineEnds))("XML with %s", async (_end, newline) => {
    const item = (id: string, name: string) =>
      [`<item>`, `<g:id>${id}</g:id>`, `<title>${name}</title>`, `<g:image_link><![CDATA[${PICTURE}]]></g:image_link>`, "</item>"].join(newline);
    const rest = `${newline}${item("1", "ü😀 &amp; &#x41;")}${newline}${item("2", "<!-- & -->T")}</channel></rss>`;
    await expectNoDifference(`<rss><channel><!--${LONG}-->`, rest, [
      { line: 2, id: "1", name: "ü😀 & A" },
      { line: 7, id: "2", name: "T" },
    ]);
  });

  test.each(Object.entries(lineEnds))("JSON lines with %s", async (_end, newline) => {
    const line = (id: string, title: string) => JSON.stringify({ id, title, link: "https://shop.example/p/1", image_link: PICTURE });
    for (const lastEnd of [newline, ""]) {
      const rest = `${newline}${line("1", "ü😀\r\n")}${newline}${newline}${line("2", '"')}${lastEnd}`;
      await expectNoDifference(`${line("-1", "T")}${newline}${JSON.stringify({ id: "0", title: "T", unknown: LONG })}`, rest, [
        { line: 1, id: "-1", name: "T" },
        { line: 2, id: "0", name: "T" },
        { line: 3, id: "1", name: "ü😀\r\n" },
        { line: 5, id: "2", name: '"' },
      ]);
    }
  });

  test("bad rows and their lines are the same, too", async () => {
    const rest = `\n"1","T" x,u\n"2","open,u\r\n3,T,u,${PICTURE}\n4,"a""b",u,${PICTURE},,,more\n"5","end`;
    const whole = await read(`${HEADER},${LONG}`, rest);
    expect(whole.bad).toEqual([
      { line: 2, reason: "text follows a closing quote" },
      { line: 3, reason: "text follows a closing quote" },
      { line: 5, reason: "has 7 values for 5 columns" },
      { line: 6, reason: "a quote is not closed" },
    ]);
    for (let cut = 0; cut <= rest.length; cut++) expect(await read(`${HEADER},${LONG}${rest.slice(0, cut)}`, rest.slice(cut))).toEqual(whole);
  });
});

test("reading CSV with a quote at each line takes time in proportion to the file, not to its square", async () => {
  const lines = (line: string, characters: number) => `${line}\n`.repeat(characters / line.length);
  const secondsOf = async (text: string): Promise<number> => {
    const before = process.cpuUsage();
    await read(`${HEADER}\n`, text);
    return process.cpuUsage(before).user / 1e6;
  };
  // In a file of lines like the third line, a quote stays open until the end of the file, no matter at which line the reader continues.
  for (const line of ['a,"t', '"a"b', '",5","', 'a,"t,"u"', '"""', 'a,""b']) {
    const seconds = await secondsOf(lines(line, 1 << 21));
    // If the reader read each of 300,000 rows up to the greatest length of a row, the test would take hours.
    expect({ line, isLinear: seconds < 20 }).toEqual({ line, isLinear: true });
  }
});
