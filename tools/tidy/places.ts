/** Checks that only certain files use SQL, the environment, time, randomness, the runtime, sockets and imports upwards. */
import { dirname, join } from "node:path";
import ts from "typescript";
import { type Check, eachNode, isCode, isTest, lineOf, type Problem, type RepositoryFile } from "./repository.ts";

const isProgram = (file: RepositoryFile): boolean => file.path.startsWith("src/") && isCode(file) && !isTest(file);

/**
 * Matches folders whose code sends requests to other servers. The deadlines of requests to other servers follow the machine's clock, not the clock
 * of a world.
 */
const OUTBOUND = "(outbound|webhooks\\/delivery)\\/";

interface Place {
  readonly what: string;
  readonly fix: string;
  /** Matches the files that may use the restricted thing, such as SQL or the clock. */
  readonly home: RegExp;
  /**
   * Matches the comment in which any other file must give a reason to use the restricted thing. The comment must be on the line of the restricted
   * thing or up to three lines above.
   */
  readonly reason?: RegExp;
  isAt(node: ts.Node): boolean;
}

const callee = (node: ts.Node): string => (ts.isCallExpression(node) || ts.isNewExpression(node) ? node.expression.getText() : "");

/** The functions of timers. setImmediate is not in the list, because it waits for a turn of the event loop and not for a time. */
const TIMERS = new Set(["setTimeout", "setInterval", "Bun.sleep", "Bun.sleepSync"]);
const RANDOM = new Set(["randomBytes", "randomUUID", "randomInt", "Math.random", "crypto.randomUUID", "crypto.getRandomValues", "Bun.randomUUIDv7"]);
const LISTENERS = new Set(["Bun.serve", "Bun.listen", "Bun.udpSocket", "createServer"]);
const CALLERS = new Set(["fetch", "Bun.connect", "Bun.fetch", "globalThis.fetch"]);
const SQL_WORDS =
  /\b(SELECT\s[\s\S]+\sFROM\s|INSERT\s+(OR\s+\w+\s+)?INTO\s|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM\s|CREATE\s+(UNIQUE\s+)?(TABLE|INDEX)\s|ALTER\s+TABLE\s|DROP\s+TABLE\s)/;
const SQL_MAKERS = new Set(["sql", "append", "placeholders"]);

const places: readonly Place[] = [
  {
    what: "reads the environment",
    fix: "reads the environment outside of src/config; take the value from Config",
    home: /^src\/config\//,
    isAt: (node) => ts.isPropertyAccessExpression(node) && ["process.env", "Bun.env", "import.meta.env"].includes(node.getText()),
  },
  {
    what: "reads the machine's clock",
    fix: "take a Clock (all time of a world is its own), or say in a comment why it has to be the machine's clock",
    home: new RegExp(`^src\\/(system\\.ts$|jobs\\/|${OUTBOUND})`),
    reason: /\/\/.*\b(machine's|real) (time|clock)\b/i,
    isAt: (node) =>
      ["Date.now", "performance.now", "Bun.nanoseconds"].includes(callee(node)) ||
      (ts.isNewExpression(node) && callee(node) === "Date" && (node.arguments ?? []).length === 0),
  },
  {
    what: "sets a timer",
    fix: "make it a job (src/jobs), or say in a comment why it has to be a timer",
    home: new RegExp(`^src\\/(system\\.ts$|jobs\\/|${OUTBOUND})`),
    reason: /\/\/.*\btimers?\b/i,
    isAt: (node) => TIMERS.has(callee(node)),
  },
  {
    what: "makes something random",
    fix: "take it from main (src/system.ts), or say in a comment why the file needs randomness of its own",
    home: new RegExp(`^src\\/(system\\.ts$|jobs\\/|${OUTBOUND})`),
    reason: /\/\/.*\brandom(ness)?\b/i,
    isAt: (node) => RANDOM.has(callee(node)),
  },
  {
    what: "names Bun",
    fix: "names the runtime outside of http, storage, control, ingest, outbound, webhooks/delivery, worlds/file/yaml.ts, main.ts and system.ts",
    home: new RegExp(`^src\\/(http\\/|storage\\/|control\\/|ingest\\/|${OUTBOUND}|graph\\/worlds\\/file\\/yaml\\.ts$|main\\.ts$|system\\.ts$)`),
    isAt: (node) => ts.isIdentifier(node) && node.text === "Bun" && !(ts.isPropertyAccessExpression(node.parent) && node.parent.name === node),
  },
  {
    what: "opens a listening socket",
    fix: "inbound sockets belong to http, control and ingest",
    home: /^src\/(http|control|ingest)\//,
    isAt: (node) => LISTENERS.has(callee(node)),
  },
  {
    what: "makes an outbound request",
    fix: "send requests to other servers with the guarded client of src/outbound (D-64)",
    // The command line, the test encoder and MCP may send requests themselves: the command line uses only the control API of the server that its
    // user chose, and the other two connect to their own server.
    home: new RegExp(`^src\\/(${OUTBOUND}|cli\\/|ingest\\/test-encoder\\/|control\\/mcp\\/mount\\.ts$)`),
    isAt: (node) => CALLERS.has(callee(node)),
  },
  {
    what: "writes SQL",
    fix: "write SQL in x.store.ts, x.migrations.ts or src/storage",
    home: /^src\/storage\/|\.(store|migrations)\.ts$/,
    isAt: (node) =>
      (ts.isTaggedTemplateExpression(node) && node.tag.getText() === "sql") ||
      ((ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) && SQL_WORDS.test(node.getText())) ||
      importsSqlMaker(node),
  },
];

function importsSqlMaker(node: ts.Node): boolean {
  if (!ts.isImportSpecifier(node) || node.isTypeOnly || node.parent.parent.isTypeOnly) return false;
  const from = node.parent.parent.parent.moduleSpecifier.getText();
  return from === '"#storage/sql"' && SQL_MAKERS.has((node.propertyName ?? node.name).text);
}

export const placesOfThings: Check = (files) => files.filter(isProgram).flatMap(placesIn);

function placesIn(file: RepositoryFile): Problem[] {
  const lines = file.text.split("\n");
  const open = places.filter(({ home }) => !home.test(file.path));
  const problems: Problem[] = [];
  eachNode(file, (node) => {
    for (const { what, fix, reason, isAt } of open) {
      if (!isAt(node)) continue;
      const line = lineOf(file, node);
      if (reason?.test(lines.slice(Math.max(0, line - 4), line).join("\n"))) continue;
      problems.push({ path: file.path, line, what, fix });
    }
  });
  return problems;
}

/** Returns the part of the project that a file belongs to: `src/graph`, `src/features/personas`, `tools`. */
function partOf(path: string): string {
  const [top = "", second = "", third = ""] = path.split("/");
  if (top !== "src") return top;
  if (second === "features") return `src/features/${third}`;
  return second.includes(".") ? "src" : `src/${second}`;
}

/**
 * Whether a test or a bench imports a feature's store to fill it. Stores have no `#alias`, so tests and benches import stores by relative paths.
 */
const isFilled = (path: string, target: string): boolean => /^(test|bench)\//.test(path) && /^src\/features\/.+\.store\.ts$/.test(target);

export const importsByName: Check = (files) =>
  files.filter(isCode).flatMap((file) => {
    const problems: Problem[] = [];
    eachNode(file, (node) => {
      if (!ts.isStringLiteral(node) || !isModuleName(node) || !node.text.startsWith(".")) return;
      const target = join(dirname(file.path), node.text);
      if (partOf(target) === partOf(file.path) || isFilled(file.path, target)) return;
      const what = `imports ${node.text}, which leaves ${partOf(file.path)}`;
      problems.push({ path: file.path, line: lineOf(file, node), what, fix: 'use the #alias of package.json ("imports")' });
    });
    return problems;
  });

const isModuleName = ({ parent }: ts.StringLiteral): boolean =>
  ts.isImportDeclaration(parent) ||
  ts.isExportDeclaration(parent) ||
  (ts.isCallExpression(parent) && parent.expression.kind === ts.SyntaxKind.ImportKeyword);
