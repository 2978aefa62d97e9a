import { describe, expect, test } from "bun:test";
import { found } from "./found.ts";
import { vocabulary } from "./vocabulary.ts";

describe("vocabulary", () => {
  const check = vocabulary([]);

  const finds: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    "a retired word in prose": { "docs/a.md": "\nThe ladder has rooms.\n" },
    "a retired word in an identifier, whatever its case": { "src/a.ts": "\nconst first_STAIRS = openRoom; const lastLane = 1;\n" },
    "a private name": { "src/a.ts": "\nclass A { #lanes = 1; }\n" },
    "an ambiguous word as an identifier": { "src/a.ts": "\nconst call = 1; const lastAnswer = call;\n" },
    "an ambiguous word in a phrase of a comment": { "src/a.ts": "\n// Each call gets the answer, 50 calls a second.\n" },
    "an ambiguous word in a phrase of a message": { "src/a.ts": '\nthrow new Error("a call failed");\n' },
    "a status that is answered": { "a.yaml": "\n# It answers 200, and is answered with 413.\n" },
    "a whole name": { "src/a.ts": "\nconst ends: Ends = 1;\n" },
  };
  for (const [what, files] of Object.entries(finds)) {
    test(`${what} is found`, () => expect(new Set(found(check, files))).toEqual(new Set([`${Object.keys(files)[0]}:2`])));
  }

  test("a path is found", () => {
    expect(found(check, { "bench/answers.ts": "", "src/lanes/a.ts": "" })).toEqual(["bench/answers.ts:1", "src/lanes/a.ts:1"]);
  });

  test("ordinary words and what another one named are left alone", () => {
    const files = {
      "docs/a.md":
        "A handler calls the store, which answers in turn and has room for more. Planes, mushrooms, callbacks and the field `calls`. `--calls-max`\n",
      "src/a.ts": "const caller = callback.call(it); const spends = recommended.trimEnd();\n",
      "src/features/live-videos/ingest/log.ts": "const a = row.call;\n",
      "spec/decisions/a.md": "The ladder.\n",
    };
    expect(found(check, files)).toEqual([]);
  });

  test("a path with an exception is left alone as long as it needs it", () => {
    const files = { "src/a.ts": "const room = 1;\n", "src/b.ts": "" };
    expect(found(vocabulary(["src/a.ts"]), files)).toEqual([]);
    expect(found(vocabulary(["src/a.ts", "src/b.ts"]), files)).toEqual(["tools/vocabulary-exceptions.json:1"]);
  });
});
