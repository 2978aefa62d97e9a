/**
 * `npm run check -- contract`: prints how the documents of the interface and the JSON Schemas differ from those of the main branch. A git diff does
 * not show these differences, because the documents are not in git. The command only informs and never fails.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BUN, ROOT } from "../steps.ts";
import { documents } from "../write-docs/generated.ts";
import { baseOnMain } from "./main-branch.ts";

/**
 * The program that makes the documents of the interface. The documents of a commit are made by the commit's own version of the program. Older commits
 * lack the program and have the documents in git.
 */
const GENERATOR = "tools/write-docs/generated.ts";
/**
 * The greatest number of lines that are printed for one operation or schema. A reader who sees this number of lines knows that the whole operation or
 * schema is new.
 */
const LINES_OF_PART_MAX = 12;

type Path = readonly string[];

/**
 * Makes the documents of a commit from its sources, with the installed packages. Returns the documents by path; a document that the commit lacks is
 * empty.
 */
export function documentsAt(root: string, commit: string, paths: readonly string[]): Record<string, unknown> {
  const folder = mkdtempSync(join(tmpdir(), "plaza-contract-"));
  try {
    const archive = join(folder, "archive.tar");
    run(root, "git", "archive", "--output", archive, commit);
    run(folder, "tar", "-xf", archive);
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    if (existsSync(join(folder, GENERATOR))) run(folder, BUN, GENERATOR);
    const read = (path: string): unknown => (existsSync(join(folder, path)) ? JSON.parse(readFileSync(join(folder, path), "utf8")) : {});
    return Object.fromEntries(paths.map((path) => [path, read(path)]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(cwd: string, ...command: string[]): void {
  const { success, stderr } = Bun.spawnSync(command, { cwd });
  if (!success) throw new Error(`${command.join(" ")} failed: ${stderr}`);
}

/**
 * Lists each operation, schema or other entry that is new (`+`), gone (`-`) or changed (`~`). The lines after a changed entry list the changes inside
 * the entry.
 */
export function differences(before: unknown, after: unknown): string[] {
  const [was, is] = [partsOf(before), partsOf(after)];
  return [...new Set([...was.keys(), ...is.keys()])].sort().flatMap((part) => {
    const [old, now] = [was.get(part), is.get(part)];
    if (old === undefined || now === undefined) return [`${old === undefined ? "+" : "-"} ${part}`];
    const lines = changesOf(old, now);
    const more = lines.length > LINES_OF_PART_MAX ? [`    … and ${lines.length - LINES_OF_PART_MAX} more`] : [];
    return lines.length === 0 ? [] : [`~ ${part}`, ...lines.slice(0, LINES_OF_PART_MAX), ...more];
  });
}

function changesOf(was: ReadonlyMap<string, string>, is: ReadonlyMap<string, string>): string[] {
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((place) => {
    const [old, now] = [was.get(place), is.get(place)];
    if (old === now) return [];
    if (old === undefined) return [`    + ${place}: ${now}`];
    return now === undefined ? [`    - ${place}: ${old}`] : [`    ~ ${place}: ${old} → ${now}`];
  });
}

/** Groups the values of a document by operation or schema. Each value has its path inside the operation or schema. */
function partsOf(document: unknown): Map<string, Map<string, string>> {
  const parts = new Map<string, Map<string, string>>();
  for (const [path, value] of valuesIn(document, [])) {
    const depth = partDepth(path);
    const [first = "", ...rest] = path.slice(0, depth);
    const name = first === "paths" ? `${rest[1]?.toUpperCase()} ${rest[0]}` : [first, ...rest].join(" ");
    parts.set(name, (parts.get(name) ?? new Map()).set(path.slice(depth).join("."), value));
  }
  return parts;
}

function partDepth([first = ""]: Path): number {
  if (first === "paths" || first === "components") return 3;
  return ["channels", "operations", "properties", "$defs"].includes(first) ? 2 : 1;
}

function valuesIn(value: unknown, path: Path): [Path, string][] {
  if (typeof value !== "object" || value === null || Object.keys(value).length === 0) return [[path, JSON.stringify(value)]];
  const entries = Array.isArray(value) ? value.map((one, at) => [keyIn(one, at), one] as const) : Object.entries(value);
  return entries.flatMap(([key, one]) => valuesIn(one, [...path, key]));
}

/**
 * Returns the key by which entries of a list are compared. If an entry has a name, the name is the key, because the order of the entries has no
 * meaning.
 */
function keyIn(entry: unknown, at: number): string {
  if (typeof entry === "string") return entry;
  const { name, in: place, $ref } = (entry ?? {}) as { name?: unknown; in?: unknown; $ref?: unknown };
  if (typeof $ref === "string") return $ref;
  return typeof name === "string" ? [place, name].filter(Boolean).join(" ") : String(at);
}

/** The text that `npm run check -- contract` prints. */
function report(): string {
  const base = baseOnMain(ROOT);
  if (base === undefined) return "there is no main branch to compare with";
  const before = documentsAt(ROOT, base, Object.keys(documents));
  const reports = Object.entries(documents).flatMap(([path, make]) => {
    // Writing and parsing JSON removes undefined values, as in a document that is read from a file.
    const lines = differences(before[path], JSON.parse(JSON.stringify(make())));
    return lines.length === 0 ? [] : [`${path}\n${lines.map((line) => `  ${line}\n`).join("")}`];
  });
  return reports.length === 0 ? "the documents are the same as those of the main branch" : reports.join("\n");
}

if (import.meta.main) console.log(report());
