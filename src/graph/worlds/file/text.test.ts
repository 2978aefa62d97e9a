/** Tests of a world file's text: which reader reads it, which texts are refused, and which line the error names. */
import { expect, test } from "bun:test";
import { atItsLine, type FileText, readParts } from "./parts.ts";
import { WorldProblem } from "./schema-words.ts";
import { WorldFileProblem, type WorldPart } from "./text.ts";

/** The top level of a file, put together from the pieces that the reader has returned. */
class WholeFile {
  readonly #values: Record<string, unknown> = {};

  take(part: WorldPart): void {
    const items = "items" in part ? [...((this.#values[part.key] as unknown[] | undefined) ?? []), ...part.items] : undefined;
    Object.assign(this.#values, { [part.key]: "items" in part ? items : part.value });
  }

  result = () => this.#values;
}

const read = async (text: string, file: Omit<FileText, "text"> = {}) => ({ file: await readParts({ text, ...file }, () => new WholeFile()) });

async function problemOf(text: string, file?: Omit<FileText, "text">): Promise<WorldFileProblem> {
  try {
    await read(text, file);
  } catch (error) {
    if (error instanceof WorldFileProblem) return error;
    throw error;
  }
  throw new Error("nothing is wrong");
}

test("JSON, YAML, and YAML in braces are read", async () => {
  for (const text of ['{"a": [1]}', ' \n{"a": [1]}']) expect(await read(text)).toEqual({ file: { a: [1] } });
  for (const text of ["a: [1]", "a:\n  - 1\n"]) expect(await read(text)).toEqual({ file: { a: [1] } });
  expect(await read("{a: [1]}")).toEqual({ file: { a: [1] } });
  expect(await read("{a: {<<: {b: 1}, c: 2}}")).toEqual({ file: { a: { b: 1, c: 2 } } });
});

test("an empty file is an empty world; a file that is not a map is refused", async () => {
  for (const text of ["", "# nothing yet", "null", "~"]) expect((await read(text)).file).toEqual({});
  for (const text of ["- 1", "[1]", "word", "7", "true"]) {
    expect(await problemOf(text)).toMatchObject({ problem: "a world file must be a map, such as `pages: […]`", path: "", line: undefined });
  }
  expect((await problemOf("- 1")).message).toBe("a world file must be a map, such as `pages: […]`");
});

test("D-324: a number that would lose digits is refused with its line, as a value, in a list and as a key, in YAML and JSON", async () => {
  for (const number of [
    "9007199254740993",
    "-12345678901234567890",
    "+12345678901234567890",
    "0.12345678901234567890",
    ".12345678901234567890",
    "1e400",
  ])
    for (const text of [
      `a: 1\nb: ${number}`,
      `a: 1\nb: ${number} # why`,
      `a: 1\nb: [1,${number}]`,
      `a: 1\n${number}: b`,
      `{"a": 1,\n"b":${number}}`,
      `{a: 1,\nb: ${number}}`,
    ])
      expect({ text, ...(await problemOf(text)) }).toMatchObject({
        ...{ text, line: 2, problem: `the number ${number} has more digits than can be kept: write it in quotes, or with fewer digits` },
      });
  // The numbers in this test's file keep their digits, or are read as texts.
  for (const number of ["9007199254740992", "0.30000000000000004", "1e22", "-10000000000000000000000"])
    for (const text of [`a: ${number}`, `{"a": ${number}}`]) expect(await read(text)).toEqual({ file: { a: Number(number) } });
  const digits = "12345678901234567890";
  for (const text of [`"${digits}"`, `'${digits}'`, `|-\n  ${digits}`, `>-\n  ${digits}`, `no ${digits}`, `"no\n  ${digits}"`, `no\n  ${digits}`])
    expect((await read(`a: ${text}`)).file.a).toBe(text.includes("no") ? `no ${digits}` : digits);
});

test("a mistake is named with its line, in JSON too", async () => {
  expect(await problemOf('{\n  "a": [1,\n  "b": 2\n')).toMatchObject({ name: "WorldFileProblem", path: "", line: expect.any(Number) });
  const broken = await problemOf("a: 1\nb: 2\nc: 'x\n");
  expect([broken.message.endsWith(`(line ${broken.line})`), broken.message.includes("\n"), broken.message.includes("column")]).toEqual([
    ...[true, false, false],
  ]);
  expect((await problemOf("a: 1\n  b: 2\n")).line).toBe(1);
});

test("a repeated key at the top is refused at the second; below it and in a part it is allowed", async () => {
  expect(await problemOf("labels: []\npages: []\nlabels : []\n")).toMatchObject({ path: "", line: 3 });
  expect(await read("a:\n  b: 1\nc:\n  b: 2\nab: 3\n")).toEqual({ file: { a: { b: 1 }, c: { b: 2 }, ab: 3 } });
});

test("a file that nests too deep is refused before it is parsed; brackets in texts do not nest", async () => {
  const deep = "nests deeper than 64 levels";
  for (const text of ["[".repeat(1_000_000), `{"labels":${"[".repeat(1_000_000)}`, `labels: ${"{a: ".repeat(100_000)}`])
    expect((await problemOf(text)).message).toBe(`${deep} (line 1)`);
  expect((await problemOf(`a: 1\nlabels: ${"[".repeat(65)}`)).message).toBe(`${deep} (line 2)`);
  for (const text of ["- ".repeat(100_000), "? ".repeat(100_000), `a:\n${" ".repeat(1_000)}b: 1`]) expect((await problemOf(text)).message).toBe(deep);
  for (const text of [`a: "${"[".repeat(100)}"\nb: ${"[".repeat(60)}${"]".repeat(60)}`, `{"a":"${"[".repeat(100)}"}`])
    expect((await read(text)).file).toMatchObject({ a: "[".repeat(100) });
});

test("an alias is refused with its line; its sign in text is allowed", async () => {
  expect((await problemOf("a: &x [1]\nb: *x\n")).message).toBe("*x is an alias, which is not supported: write the repeated value out (line 2)");
  expect((await problemOf("a: &x |\n  one\n\n  two\n\nb:\n  - 1\n  - *x\n")).line).toBe(8);
  // An alias without an anchor, such as a word after a star, is a mistake of the file, too.
  for (const text of ["a: 1\nb: *bold*\n", "a:\n  - *bold*\n", "\n{b: *bold* }"])
    expect(await problemOf(text)).toMatchObject({ problem: "*bold* is an alias, which is not supported: write the repeated value out", line: 2 });
  expect((await problemOf("--- |\n*x and &y\n")).problem).toStartWith("a world file must be a map");
  for (const text of ['a: "&x"\nb: "*x"', "a: this &that\nb: two *stars", "a: |\n  &x\n  *x", "a: &x 1"]) {
    const { file } = await read(text);
    expect(file).toEqual(Bun.YAML.parse(text) as Record<string, unknown>);
  }
});

const LABELS = "labels:\n  - id: 1\n    name: x\n  - id: 2\n    name: y\n    users:\n      - 7\n";

test("a problem has the line of its path, or of the closest one around it", async () => {
  const lineOf = async (path: string, text = LABELS) => (await atItsLine(new WorldProblem(path, "is wrong"), { text })).line;
  expect([await lineOf("labels[0].id"), await lineOf("labels[1].name"), await lineOf("labels[1].users[0]")]).toEqual([2, 5, 7]);
  expect([await lineOf("labels[1].users[3]"), await lineOf("labels[1].color"), await lineOf("labels[9].id"), await lineOf("labels")]).toEqual([
    ...[7, 4, 2, 2],
  ]);
  expect([await lineOf("pages[0]"), await lineOf("")]).toEqual([undefined, undefined]);
  expect(await lineOf("a[1].b", '{\n"a": [\n{"b": 1},\n{"b": 2}\n]}')).toBe(4);
  const problem = await atItsLine(new WorldProblem("labels[1].name", "is wrong"), { text: LABELS });
  expect([problem.message, problem.path]).toEqual(["labels[1].name is wrong (line 5)", "labels[1].name"]);
  expect((await atItsLine(new WorldProblem("pages[0]", "is wrong"), { text: LABELS })).message).toBe("pages[0] is wrong");
});

/** The file has so many lines that another process reads it. */
const MANY_LINES = "# é𐀀 many lines\n".repeat(40_000);

test("a long file in YAML is read by another process, with the same values, problems and lines", async () => {
  const entries = Array.from({ length: 5_000 }, (_, at) => `- {id: ${at}, name: "é𐀀 ${at}", share: .inf}\n`).join("");
  const long = `${MANY_LINES}clock: {now: 7}\nlabels:\n${entries}pages: []\n`;
  const here = await read(long, { mayHold: true });
  expect(here.file.labels).toHaveLength(5_000);
  expect(await read(long)).toEqual(here);
  for (const wrong of ["- 1", "a: [1", "a: 9007199254740993", `a: ${"[".repeat(65)}`, "a: *x", "a: 1\nb: 2\na: 3"]) {
    const problem = await problemOf(`${MANY_LINES}${wrong}`, { mayHold: true });
    expect(await problemOf(`${MANY_LINES}${wrong}`)).toEqual(problem);
  }
  const { line } = await atItsLine(new WorldProblem("labels[1].name", "is wrong"), { text: MANY_LINES + LABELS });
  expect(line).toBe(40_005);
});

test("JSON is refused at a repeated key, and at an entry that is too long for the memory, with the line", async () => {
  expect(await problemOf('{"a": [1],\n"b": 2,\n"a": [3]}')).toMatchObject({ problem: "Map keys must be unique", line: 3 });
  const long = `"${"x".repeat(5_000_000)}"`;
  for (const [text, line] of [
    [`{"b": 1,\n"a": [1,\n2, ${long}]}`, 3],
    [`{"b": 1,\n"a": {"c": ${long}}}`, 2],
    [`{"b": 1,\n"a":\n${long}}`, 3],
  ] as const)
    expect(await problemOf(text)).toMatchObject({ path: "a", line, problem: "has an entry of more than 4194304 characters" });
});

test("no line is looked for in YAML of more than two million characters", async () => {
  const padded = (characters: number): string => LABELS + "#".padEnd(characters - LABELS.length, "x");
  const lineOf = async (text: string) => (await atItsLine(new WorldProblem("labels[1].name", "is wrong"), { text })).line;
  expect([await lineOf(padded(2_000_000)), await lineOf(padded(2_000_001))]).toEqual([5, undefined]);
  const json = `{"pages": ["${"x".repeat(2_000_000)}"],\n"labels": [1,\n{"name": 7}]}`;
  expect(await lineOf(json)).toBe(3);
});
