/** Checks that each check of tidy finds the problems that it is made for. */
import { describe, expect, test } from "bun:test";
import { decisions, paths } from "./tidy/citations.ts";
import { clauseReport } from "./tidy/clauses.ts";
import { errorPage } from "./tidy/error-page.ts";
import { found } from "./tidy/found.ts";
import { markers, switchedOffTests, tracesOfMachines } from "./tidy/leftovers.ts";
import { names, standardFiles } from "./tidy/names.ts";
import { outcomes } from "./tidy/outcomes.ts";
import { importsByName, placesOfThings } from "./tidy/places.ts";
import { prose } from "./tidy/prose.ts";
import type { RepositoryFile } from "./tidy/repository.ts";
import { sizes } from "./tidy/sizes.ts";

const none = { files: {}, functions: {}, folders: {} };
const lines = (count: number): string => "x();\n".repeat(count);

describe("sizes", () => {
  test("a file of 500 lines passes, one of 501 does not", () => {
    expect(found(sizes(none), { "src/a.ts": lines(500), "src/b.ts": lines(501) })).toEqual(["src/b.ts:1"]);
  });

  test("a function of 70 lines passes, one of 71 does not, and a group of tests does not count", () => {
    const body = (count: number) => `{\n${lines(count - 2)}}\n`;
    const files = {
      "src/a.ts": `function a() ${body(70)}`,
      "src/b.ts": `\nconst b = () => ${body(71)}`,
      "src/c.test.ts": `describe("c", () => {\ntest("d", () => {});\n${lines(80)}});\n`,
    };
    expect(found(sizes(none), files)).toEqual(["src/b.ts:2"]);
  });

  test("an unneeded exception is found", () => {
    expect(found(sizes({ ...none, files: { "src/a.ts": "a table" } }), { "src/a.ts": lines(3) })).toEqual(["tools/tidy-exceptions.json:1"]);
    expect(found(sizes({ ...none, folders: { src: "to be split" } }), { "src/a.ts": "" })).toEqual(["tools/tidy-exceptions.json:1"]);
  });

  test("a folder of 20 files passes, one of 21 does not; files of subfolders do not count", () => {
    const folder = (path: string, count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`${path}/${at}.md`, ""]));
    expect(found(sizes(none), { ...folder("src/a", 20), ...folder("src/a/b", 20), ...folder("src/c", 21) })).toEqual(["src/c:1"]);
  });
});

describe("outcomes of inserts", () => {
  const store = `
    export async function insertTea(tx: Transaction, id: string): Promise<boolean> { return (await tx.run(x)) === 1; }
    export async function insertLeaf(tx: Transaction, id: string): Promise<void> { await tx.runOne(x); }
    export async function deleteTea(tx: Transaction, id: string): Promise<boolean> { return (await tx.run(x)) === 1; }`;
  const foundIn = (statement: string): string[] =>
    found(outcomes, { "src/tea.store.ts": store, "src/tea.ts": `async function handle() {\n${statement}\n}` });

  test("an ignored one is found: of a store's function, a method, a whole write", () => {
    for (const statement of [
      "await insertTea(tx, id);",
      "void insertTea(tx, id);",
      "await world.ports.insertTea(tx, id);",
      "await database.write((tx) => insertTea(tx, id));",
    ]) {
      expect(foundIn(statement)).toEqual(["src/tea.ts:2"]);
    }
  });

  test("a checked one passes, and so does an insert without an outcome, and any other write", () => {
    for (const statement of [
      "if (!(await insertTea(tx, id))) throw taken();",
      "return insertTea(tx, id);",
      "await insertLeaf(tx, id);",
      "await deleteTea(tx, id);",
      "await tx.run(x);",
    ]) {
      expect(foundIn(statement)).toEqual([]);
    }
  });
});

describe("names", () => {
  test("a meaningless name is found, as file, folder or ending", () => {
    const files = { "src/graph/utils.ts": "", "src/helpers/a.ts": "", "src/graph/x.types.ts": "", "src/graph/contract/operation.ts": "" };
    expect(found(names, files)).toEqual(["src/graph/utils.ts:1", "src/helpers/a.ts:1", "src/graph/x.types.ts:1"]);
  });

  test("a feature without public API, README, test or contract is found, and a file that is not one of the standard ones", () => {
    const whole = ["index.ts", "README.md", "a.test.ts", "a.contract.ts", "a.handlers.ts"];
    expect(found(standardFiles, Object.fromEntries(whole.map((name) => [`src/features/a/${name}`, ""])))).toEqual([]);
    expect(found(standardFiles, { "src/features/a/a.handlers.ts": "" })).toHaveLength(4);
    expect(found(standardFiles, Object.fromEntries([...whole, "things.ts"].map((name) => [`src/features/a/${name}`, ""])))).toEqual([
      "src/features/a/things.ts:1",
    ]);
  });
});

describe("places", () => {
  const misplaced: Readonly<Record<string, string>> = {
    environment: "const a = process.env.A;",
    clock: "const a = Date.now();",
    "clock, as an object": "const a = new Date();",
    timer: "setTimeout(a, 5);",
    randomness: "const a = Math.random();",
    Bun: "Bun.gc(true);",
    "listening socket": "createServer(a);",
    "outbound request": 'await fetch("http://a");',
    SQL: 'const a = "SELECT a FROM b WHERE c";',
    "sql tag": 'import { sql } from "#storage/sql";',
  };
  for (const [what, text] of Object.entries(misplaced)) {
    test(`${what} is found in a handler`, () => {
      expect(found(placesOfThings, { "src/features/a/a.handlers.ts": `\n${text}` })).toContain("src/features/a/a.handlers.ts:2");
    });
  }

  test("each is allowed in its own place, and a type does not count", () => {
    const files = {
      "src/config/a.ts": "const a = process.env.A;",
      "src/system.ts": "const a = Date.now();",
      "src/jobs/a.ts": "setTimeout(a, 5);",
      "src/http/server.ts": "Bun.serve({});",
      "src/features/a/a.store.ts": 'import { sql } from "#storage/sql"; sql`SELECT a FROM b`;',
      "src/features/a/a.contract.ts": 'import type { Row } from "#storage/sql"; // process.env, Date.now(), SELECT a FROM b',
      "src/storage/wait.ts": "// A timer, because a driver waits for its own socket.\nsetTimeout(a, 5);",
    };
    expect(found(placesOfThings, files)).toEqual([]);
  });

  test("a relative import that leaves its part of the server is found", () => {
    const files = {
      "src/graph/a.ts": 'import { a } from "../kernel/a.ts";',
      "src/features/a/a.store.ts": 'import { b } from "../b/index.ts";',
      "src/storage/sqlite/open.ts": 'import { c } from "../sql.ts";',
    };
    expect(found(importsByName, files)).toEqual(["src/graph/a.ts:1", "src/features/a/a.store.ts:1"]);
  });
});

describe("leftovers", () => {
  test("a marker needs an issue", () => {
    expect(found(markers, { "src/a.ts": "// TODO: later\n// TODO(#12): later\n// FIXME\n" })).toEqual(["src/a.ts:1", "src/a.ts:3"]);
  });

  test("a disabled test is found", () => {
    const name = "skip";
    expect(found(switchedOffTests, { "src/a.test.ts": `test("a", () => {});\ntest.${name}("b", () => {});\n` })).toEqual(["src/a.test.ts:2"]);
  });

  const traces: Readonly<Record<string, string>> = {
    "a home folder": "see /home/ada/plaza/src",
    "a home folder of macOS": "`/Users/ada/plaza`",
    "a home folder of Windows": "cd C:\\Users\\ada\\plaza",
    "the administrator's folder": "at /root/plaza",
    "an address of a file": "file:///home/ada/plaza",
    "a folder of work": 'open("/workspaces/plaza")',
    "a registry": "curl https://registry.packages.example/a",
    "a company's registry": "npm-mirror.company.example",
    "a lock file that says where a package came from": '"resolved": "https://packages.example/a.tgz",',
  };
  for (const [what, text] of Object.entries(traces)) {
    test(`${what} is found`, () => {
      expect(found(tracesOfMachines, { "docs/a.md": `\n${text}\n` })).toEqual(["docs/a.md:2"]);
    });
  }

  test("paths of the project, of every system and of URLs are not traces", () => {
    const text = "src/work/a.ts /etc/hosts ./home/a https://plaza.example/home/a `plaza.registry.features` npm ci";
    expect(found(tracesOfMachines, { "docs/a.md": text })).toEqual([]);
  });
});

describe("citations", () => {
  const page = { "spec/decisions/a.md": "### D-98 One\n\n### D-99 Two\n" };

  test("an unknown decision is found, and a duplicate one", () => {
    expect(found(decisions, { ...page, "src/a.ts": "// D-98: so.\n// D-97: so.\n" })).toEqual(["src/a.ts:2"]);
    expect(found(decisions, { ...page, "spec/decisions/b.md": "### D-98 Again\n" })).toEqual(["spec/decisions/b.md:1"]);
  });

  test("a missing path is found, as such, below src, or beside the document", () => {
    const files = {
      "src/graph/pipeline/handle-request.ts": "",
      "docs/a.md": "",
      "docs/b.md": "`src/graph/pipeline/handle-request.ts` `graph/pipeline/handle-request.ts` [a](a.md)\n`graph/steps.ts`\n[c](c.md)\n",
    };
    expect(found(paths, files)).toEqual(["docs/b.md:2", "docs/b.md:3"]);
  });

  test("a file that an example of the page writes exists after it has run", () => {
    const page = "Save it as `cafe.yaml`, not as `bar.yaml`:\n\n<!-- file: cafe.yaml -->\n```yaml\npages: []\n```\n";
    expect(found(paths, { "docs/b.md": page })).toEqual(["docs/b.md:1"]);
  });

  test("patterns of names and addresses are not paths", () => {
    expect(found(paths, { "README.md": "`x.store.ts` `GET /{id}` `a[b]=c` `http://a/b` `src/*.ts`\n", "src/a.ts": "" })).toEqual([]);
  });

  test("a missing error of the page is found, and one too many", () => {
    expect(found(errorPage(["a", "b"]), { "docs/reference/errors.md": "| `a` | 400 |\n| `c` | 400 |\n" })).toEqual([
      "src/kernel/errors.ts:1",
      "docs/reference/errors.md:2",
    ]);
  });
});

describe("clauses", () => {
  const files: RepositoryFile[] = [
    {
      path: "spec/clauses.yaml",
      text: "- {id: A1-1, area: a, kind: rule}\n- {id: A1-2, area: a, kind: shape}\n- {id: B1-1, area: b, kind: rule}\n- {id: A1-3, area: a, kind: info}\n",
    },
    { path: "src/features/a/a.contract.ts", text: 'clauses: ["A1-1", "A1-2"]' },
    { path: "conformance/cases/a.yaml", text: "cases:\n- {title: a, clauses: [A1-1]}\n" },
  ];

  test("a clause counts if an operation and a case name it", () => {
    const { covered, total } = clauseReport(files, ["b"]);
    expect({ covered, total }).toEqual({ covered: 1, total: 3 });
  });

  test("every clause of a finished area has both or a reason", () => {
    expect(clauseReport(files, ["b"]).problems.map(({ what }) => what)).toEqual(["A1-2 has no conformance case"]);
    const excused = [...files, { path: "spec/uncovered.md", text: "| clause | reason |\n|---|---|\n| A1-2 | another system's |\n" }];
    expect(clauseReport(excused, ["b"]).problems).toEqual([]);
  });

  test("a comment may cite a span of clauses", () => {
    const cited = [
      ...files,
      { path: "src/graph/a.ts", text: "// B1-1 to B1-3: so.\n" },
      { path: "conformance/cases/b.yaml", text: "cases:\n- {clauses: B1-1}\n" },
    ];
    expect(clauseReport(cited, ["b"]).covered).toBe(2);
  });

  test("an unneeded reason is found", () => {
    const excused = [...files, { path: "spec/uncovered.md", text: "| A1-1 | another system's |\n| A1-2 | another system's |\n" }];
    expect(clauseReport(excused, ["b"]).problems.map(({ line }) => line)).toEqual([1]);
  });
});

describe("prose", () => {
  test.each([
    "What was written is lost.",
    "A process goes on. What was written is lost.",
    "Who waits gets the rest.",
    "Where the name is taken, the request fails.",
    "A page is made of what came.",
    "A price that is none is left out.",
    "An id that is no number is refused.",
    "A request waits for so many seconds.",
    "The rest stands there.",
    "How many requests may run.",
    "Why the request was refused.",
    "They are refused.",
    "The most requests of an app.",
    "| key | What was written is lost. |",
  ])("found: %s", (text) => {
    expect(found(prose, { "docs/a.md": `# A\n\n${text}\n` })).toEqual(["docs/a.md:3"]);
  });

  test("the line is that on which the sentence begins", () => {
    expect(found(prose, { "docs/a.md": "A process goes on, and\nends later. A worker\nwaits. What was written\nis lost.\n" })).toEqual([
      "docs/a.md:3",
    ]);
  });

  test.each([
    "What happens if a name is taken?",
    "How long does a request wait?",
    "When the server ends, it closes its port.",
    "Requests arrive. They are refused.",
    "The most frequent requests come first.",
    "There is no such name, and there is none later.",
    "The key is no longer valid.",
    "A caller sends so many requests that others wait.",
    "`PSID` stands for a person.",
    "The command prints `What was written`.",
    "# What is stable",
    "```text\nWhat was written\n```",
    "Written by `npm run docs` from a contract.\n\nWhat was written is lost.",
  ])("others are not: %s", (text) => {
    expect(found(prose, { "docs/a.md": `${text}\n` })).toEqual([]);
  });

  test("comments and messages of source files are read too, but not titles of tests", () => {
    const lost = "What was written is lost.";
    const source = `// ${lost}\n\n/** A process goes on.\n * ${lost} */\nexport const message = "The name is no number, so it is refused";\n`;
    expect(found(prose, { "src/a.ts": source })).toEqual(["src/a.ts:1", "src/a.ts:4", "src/a.ts:5"]);
    expect(found(prose, { "src/a.test.ts": `// ${lost}\ntest("${lost}", () => {});\n` })).toEqual(["src/a.test.ts:1"]);
  });
});
