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
});

describe("a draw", () => {
  const kinds = ["document", "comment", "message"] as const;
  const all = kinds.flatMap((kind): Sentence[] =>
    Array.from({ length: 20 }, (_, at) => ({ kind, path: "a", line: at + 1, text: `one of the ${kind}s` })),
  );

  test("takes as many of each kind, each once, the same ones for the same seed", () => {
    const drawn = drawSentences(all, 1, 30);
    for (const kind of kinds) expect(drawn.filter((sentence) => sentence.kind === kind)).toHaveLength(10);
    expect(new Set(drawn).size).toBe(30);
    expect(drawSentences(all, 1, 30)).toEqual(drawn);
    expect(drawSentences(all, 2, 30)).not.toEqual(drawn);
  });

  test("ends when there are no more, and leaves labels out", () => {
    expect(drawSentences([...all, { kind: "comment", path: "a", line: 1, text: "three words only" }], 1, 1_000)).toHaveLength(60);
  });
});
