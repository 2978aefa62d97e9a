import { expect, test } from "bun:test";
import { folderOf, mutantsOf, sampleOf, withMutant } from "./mutants.ts";

/** The mutants of a text, as texts. */
const instead = (text: string, kind?: string): string[] =>
  mutantsOf("src/made-up.ts", text)
    .filter((mutant) => kind === undefined || mutant.kind === kind)
    .map((mutant) => withMutant(text, mutant));

test("a boundary moves across its value", () => {
  expect(instead("x = a < b;", "boundary")).toEqual(["x = a <= b;"]);
  expect(instead("x = a >= b;", "boundary")).toEqual(["x = a > b;"]);
});

test("a condition is inverted, or always true or false", () => {
  expect(instead("if (a === b) c++;")).toEqual(["if (true) c++;", "if (false) c++;", "if (a !== b) c++;"]);
  expect(instead("x = !a ? b : c;", "condition")).toEqual(["x = true ? b : c;", "x = false ? b : c;", "x = a ? b : c;"]);
  expect(instead("x = a && b;", "condition")).toEqual(["x = a || b;"]);
  expect(instead("x = a && (b || c);", "operand")).toEqual(["x = a;", "x = (b || c);", "x = a && (b);", "x = a && (c);"]);
  expect(instead("x = a ?? b;", "condition")).toEqual(["x = a;"]);
});

test("numbers are one more, and large ones twice as much", () => {
  expect(instead("const n = 0;")).toEqual(["const n = 1;"]);
  expect(instead("const n = 60_000;")).toEqual(["const n = 120000;"]);
});

test("true and false are exchanged", () => {
  expect(instead("f({ is_on: true });", "boolean")).toEqual(["f({ is_on: false });"]);
});

test("sums are differences, except of texts", () => {
  expect(instead("const n = a + b * c;")).toEqual(["const n = a - b * c;", "const n = a;", "const n = a + b / c;"]);
  expect(instead('const n = "a" + b + c;')).toEqual([]);
});

test("an await is omitted, except if the caller awaits the returned value", () => {
  expect(instead("async () => { const a = await b(); };", "await")).toEqual(["async () => { const a = b(); };"]);
  expect(instead("async () => { return await b(); };", "await")).toEqual([]);
  expect(instead("async () => { try { return await b(); } catch {} };", "await")).toEqual(["async () => { try { return b(); } catch {} };"]);
});

test("a statement with an effect is omitted", () => {
  expect(instead("{ save(a); }")).toEqual(["{ ; }"]);
  expect(instead("async () => { await save(a); };", "call")).toEqual(["async () => { ; };"]);
  expect(instead("{ this.a = b; }")).toEqual(["{ ; }"]);
  expect(instead("for (;;) { continue; }")).toEqual(["for (;;) { ; }"]);
  expect(instead("{ throw refused(a); }")).toEqual(["{ ; }"]);
});

test("a method is exchanged for its opposite, or omitted", () => {
  expect(instead("const n = Math.min(a, b);")).toEqual(["const n = Math.max(a, b);"]);
  expect(instead("const n = list.filter(f).sort();")).toEqual(["const n = list.filter(f);", "const n = list.sort();"]);
});

test("a property of an object is missing, or its text empty", () => {
  expect(instead('f({ a, "cache-control": "no-store", c: d });', "property")).toEqual([
    'f({  "cache-control": "no-store", c: d });',
    "f({ a,  c: d });",
    'f({ a, "cache-control": "", c: d });',
    'f({ a, "cache-control": "no-store",  });',
  ]);
  expect(instead("x = { a: { b: c } , };", "property")).toEqual(["x = {  };", "x = { a: {  } , };"]);
});

test("properties that a pattern reads, that only describe or that are undefined are not changed", () => {
  expect(instead("const { a, b: { c } } = d; ({ a, b: [{ c }] } = d); f = ({ a }) => a;", "property")).toEqual([]);
  expect(instead('x = { summary: "Lists.", clauses: ["A7-1"], a: undefined, b: "" };', "property")).toEqual([
    'x = { summary: "Lists.", clauses: ["A7-1"], a: undefined,  };',
  ]);
  expect(instead("x = { a: ({ b: c } = d) };", "property")).toEqual(["x = {  };"]);
  expect(instead("x = { ...a, ...(b === undefined ? {} : c), d() {}, get e() {} };", "property")).toEqual([
    "x = {  ...(b === undefined ? {} : c), d() {}, get e() {} };",
  ]);
});

test("neighbouring arguments are exchanged, if both are simple and differ", () => {
  expect(instead('f(a, b.c, "d", () => e, g());', "arguments")).toEqual(['f(b.c, a, "d", () => e, g());', 'f(a, "d", b.c, () => e, g());']);
  expect(instead("x = new A(this, -1);", "arguments")).toEqual(["x = new A(-1, this);"]);
  expect(instead("f(a, a); Math.max(a, b); f(a, ...b);", "arguments")).toEqual([]);
});

test("types and imports are not changed", () => {
  expect(instead('import { a } from "./a.ts"; type A = 1 | 2; interface B { c: true } const d: 4 = e as 4;')).toEqual([]);
});

/** The mutants of an SQL statement, in which values are written as `$a` or `$b(1)`. */
function statements(text: string): string[] {
  const source = `sql\`${text.replace(/\$([\w()]+)/g, "$${$1}")}\`;`;
  return instead(source, "sql").map((each) => each.slice("sql`".length, -"`;".length).replace(/\$\{([\w()]+)\}/g, "$$$1"));
}

test("SQL: a missing condition, or its opposite", () => {
  expect(statements("SELECT a FROM t WHERE b = $c AND d IS NULL")).toEqual([
    "SELECT a FROM t WHERE b = $c",
    "SELECT a FROM t WHERE d IS NULL",
    "SELECT a FROM t WHERE b = $c AND d IS NOT NULL",
    "SELECT a FROM t WHERE b <> $c AND d IS NULL",
  ]);
});

test("SQL: boundaries, order, limits and constants", () => {
  expect(statements("SELECT a FROM t WHERE b <= $c(1) ORDER BY t.a LIMIT $d")).toEqual([
    "SELECT a FROM t WHERE b < $c(1) ORDER BY t.a LIMIT $d",
    "SELECT a FROM t WHERE b <= $c(1) ORDER BY t.a DESC LIMIT $d",
    "SELECT a FROM t WHERE b <= $c(1)  LIMIT $d",
    "SELECT a FROM t WHERE b <= $c(1) ORDER BY t.a LIMIT 1 + $d",
  ]);
  expect(statements("SELECT a FROM t ORDER BY a DESC, b LIMIT 2")).toEqual([
    "SELECT a FROM t ORDER BY a ASC, b LIMIT 2",
    "SELECT a FROM t  LIMIT 2",
    "SELECT a FROM t ORDER BY a DESC LIMIT 2",
    "SELECT a FROM t ORDER BY a DESC, b LIMIT 3",
  ]);
});

test("SQL: an assignment is not a condition, and a range is one", () => {
  expect(statements("UPDATE t SET a = $b, c = c + 1 WHERE d BETWEEN $e AND $f")).toEqual([
    "UPDATE t SET a = $b, c = c - 1 WHERE d BETWEEN $e AND $f",
    "UPDATE t SET a = $b, c = c + 2 WHERE d BETWEEN $e AND $f",
  ]);
});

test("SQL: also text that is appended to a statement, but no other text", () => {
  expect(instead('const tail = "AND a > ?";')).toEqual(['const tail = "";', 'const tail = "AND a >= ?";']);
  expect(instead('const text = "the order by which 2 < 3";')).toEqual([]);
});

test("a mutant is reported with its line and its change", () => {
  const [mutant] = mutantsOf("src/jobs/made-up.ts", "const a = 1;\n  const b = c <\n    d;\n").filter(({ kind }) => kind === "boundary");
  expect(mutant).toMatchObject({ path: "src/jobs/made-up.ts", line: 2, code: "const b = c <", change: "< → <=" });
});

test("a comment on the line or right above it names equivalent mutants, by kind or by change", () => {
  const reasonsOf = (text: string) => mutantsOf("src/made-up.ts", text).map(({ change, equivalent }) => [change, equivalent?.reason]);
  expect(reasonsOf("a = b < 1; // Equivalent mutant (boundary): it is not 1.\nc = 2 < d;")).toEqual([
    ["a = b < 1; → ;", undefined],
    ["< → <=", "it is not 1."],
    ["1 → 2", undefined],
    ["c = 2 < d; → ;", undefined],
    ["< → <=", undefined],
    ["2 → 3", undefined],
  ]);
  expect(reasonsOf("  // Equivalent mutant (f(a); →): one.\n  // Equivalent mutant (1 → 2): two.\n  f(1);\n const c = 1;")).toEqual([
    ["f(1); → ;", undefined],
    ["1 → 2", "two."],
    ["1 → 2", undefined],
  ]);
  expect(reasonsOf("x = a.sort(); // Equivalent mutant (.sort() →): it is sorted.")[1]).toEqual([".sort() → ", "it is sorted."]);
  // An "Equivalent mutant" comment cannot be inside SQL, so it is above the statement.
  expect(reasonsOf("// Equivalent mutant (sql): in any order.\nsql`SELECT a FROM b\n  ORDER BY c DESC`;")).toEqual([
    ["DESC → ASC", "in any order."],
    ["ORDER BY c DESC → ", "in any order."],
  ]);
});

test("a report counts a feature separately, and a part of the server as a whole", () => {
  expect(folderOf("src/features/pages/index.ts")).toBe("src/features/pages");
  expect(folderOf("src/graph/pipeline/parse/body.ts")).toBe("src/graph");
  expect(folderOf("src/main.ts")).toBe("src");
});

test("a sample is the same for the same seed, without duplicates", () => {
  const all = Array.from({ length: 100 }, (_, at) => at);
  expect(sampleOf(all, 10, 7)).toEqual(sampleOf(all, 10, 7));
  expect(sampleOf(all, 10, 7)).not.toEqual(sampleOf(all, 10, 8));
  expect(new Set(sampleOf(all, 10, 7)).size).toBe(10);
  expect(sampleOf(all, 200, 7).toSorted((a, b) => a - b)).toEqual(all);
});
