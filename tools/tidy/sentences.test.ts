import { describe, expect, test } from "bun:test";
import { drawSentences } from "../sentences.ts";
import { type Sentence, sentencesOf } from "./sentences.ts";

const textsOf = (path: string, text: string): [line: number, text: string][] => sentencesOf({ path, text }).map(({ line, text }) => [line, text]);

describe("the sentences of a file", () => {
  test("a document has those of its paragraphs, items and cells, without headings and code", () => {
    const page =
      "# A title\n\nOne sentence\nof two lines. Another (in brackets.) `code` begins\nit.\n\n- an item\n\n| a cell | 1 |\n\n```sh\nnpm start\n```\n";
    expect(textsOf("docs/a.md", page)).toEqual([
      [3, "One sentence of two lines."],
      [4, "Another (in brackets.)"],
      [4, "`code` begins it."],
      [7, "an item"],
      [9, "a cell"],
    ]);
  });

  test("code has those of its comments and messages; values are dots, and SQL is not a message", () => {
    const code = [
      "/**",
      " * A comment of",
      " * two lines. It goes on.",
      " */",
      "// One comment in",
      "// two parts.",
      `fail(\`the port \${port} is already in use\`); // At the end.`,
      'const name = "short";',
      `sql\`SELECT id FROM labels WHERE page = \${page}\`;`,
    ];
    expect(textsOf("src/a.ts", `${code.join("\n")}\n`)).toEqual([
      [2, "A comment of two lines."],
      [3, "It goes on."],
      [5, "One comment in two parts."],
      [7, "At the end."],
      [7, "the port … is already in use"],
    ]);
  });

  test("literals that are joined with + are one message", () => {
    const code = [
      'fail("the folder " + folder +',
      '  " is in use: " +',
      `  "choose another folder. Or stop " + \`the process \${id} that \` + "uses it");`,
      'const sum = folder + " " + (isOpen ? "is open in this process" : "");',
    ];
    expect(textsOf("src/a.ts", `${code.join("\n")}\n`)).toEqual([
      [1, "the folder … is in use: choose another folder."],
      [1, "Or stop the process … that uses it"],
      [4, "is open in this process"],
    ]);
  });

  test("a message of several lines is a page; code, data and lists of names are not sentences", () => {
    const code = [
      "const usage = `How to use it.\\n\\n  --port PORT   the port of the server to test\\n  --json        print one document\\n`;",
      "const page = `<p>This is <b>the</b> page of the server.\\n<style>p { color: red; margin: 0 }</style>`;",
      "const key = `-----BEGIN CERTIFICATE-----\\nthe text of a certificate`;",
      'const names = "retailer name price image";',
      'const rows = "id,name,price\\nc1,First of two,the price of one";',
    ];
    expect(textsOf("src/a.ts", `${code.join("\n")}\n`)).toEqual([
      [1, "How to use it."],
      [1, "the port of the server to test"],
    ]);
  });

  test("a cell, an item after a lead-in or without a beginning, and a literal inside of another message are parts", () => {
    const wholeOf = (path: string, text: string): string[] => sentencesOf({ path, text }).flatMap(({ text, isPart }) => (isPart ? [] : [text]));
    const page = "A list:\n\n- Its item.\n  - An inner item.\n\nA paragraph.\n\n- A whole item.\n- an item\n\n| A cell is here. |\n";
    expect(wholeOf("docs/a.md", page)).toEqual(["A list:", "A paragraph.", "A whole item."]);
    const code = [
      `fail(\`the port is now \${isOpen ? "open in this process" : "in use"}\`);`,
      'const sum = folder + " is " + (isOpen ? "open in this process" : "");',
      'const rest = ", and the port is in use";',
      "const usage = `How to use it.\n\n  --port PORT   the port of the server\n`;",
    ];
    expect(wholeOf("src/a.ts", `${code.join("\n")}\n`)).toEqual(["the port is now …", "How to use it."]);
  });

  test("a message is about the first argument or the property that it explains", () => {
    const code = [
      'option("--port", "the port of the server");',
      'const schema = { port: number({ description: "the port of the server" }), host: () => fail("there is no such host") };',
      'fail("there is no such port. Choose one");',
    ];
    expect(sentencesOf({ path: "src/a.ts", text: `${code.join("\n")}\n` }).map(({ about }) => about)).toEqual([
      "--port",
      "port",
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("lines for tools, SQL and programs are not sentences; full stops in code and in abbreviations end none", () => {
    const code = [
      "// Responses have any shape, e.g. `No. Such text.` Here",
      "// biome-ignore lint/suspicious/noExplicitAny: the caller knows what it gets.",
      "const a: any = 1;",
      "/**",
      " * A sentence before.",
      " * biome-ignore lint/suspicious/noExplicitAny: the caller knows what it gets.",
      " */",
      "// @ts-expect-error: the name of this label is missing.",
      'append(list, "AND e.position > ? AND e.app = ? LIMIT ?", "WHERE d.id IS NOT NULL AND d.app = ?");',
      'const columns = "e.name, e.time FROM app_events e WHERE e.app = x AND e.key = y";',
      'run("list of elements .filter(({ name }) => name is not empty here)");',
      'fail("an edge from page AND app is not allowed");',
    ];
    expect(textsOf("src/a.ts", `${code.join("\n")}\n`)).toEqual([
      [1, "Responses have any shape, e.g. `No. Such text.` Here"],
      [5, "A sentence before."],
      [12, "an edge from page AND app is not allowed"],
    ]);
  });
});

describe("a draw", () => {
  const kinds = ["document", "comment", "message"] as const;
  const all = kinds.flatMap((kind): Sentence[] =>
    Array.from({ length: 20 }, (_, at) => ({ kind, path: "a", line: at + 1, text: `one of the ${kind}s`, isFirst: true, isPart: false })),
  );

  test("takes as many of each kind, each once, the same ones for the same seed", () => {
    const drawn = drawSentences(all, 1, 30);
    for (const kind of kinds) expect(drawn.filter((sentence) => sentence.kind === kind)).toHaveLength(10);
    expect(new Set(drawn).size).toBe(30);
    expect(drawSentences(all, 1, 30)).toEqual(drawn);
    expect(drawSentences(all, 2, 30)).not.toEqual(drawn);
  });

  test("ends when there are no more, and leaves labels and parts of texts out", () => {
    const added = { kind: "comment", path: "a", line: 1, isFirst: true } as const;
    const label = { ...added, text: "three words only", isPart: false };
    const part = { ...added, text: "the end of a sentence", isPart: true };
    expect(drawSentences([...all, label, part], 1, 1_000)).toHaveLength(60);
  });
});
