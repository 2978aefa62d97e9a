/** Makes mutants: versions of a file that contain one small mistake each. */
import ts from "typescript";
import { changesAt } from "./changes.ts";

export interface Mutant {
  readonly path: string;
  /** The number of the line, counted from 1. */
  readonly line: number;
  readonly kind: string;
  readonly start: number;
  readonly end: number;
  readonly now: string;
  /** The source line on which the change begins, without indentation. */
  readonly code: string;
  /** The change in short form for a list, e.g. `< → <=`. */
  readonly change: string;
  readonly equivalent?: Equivalent;
}

/** A comment that says that certain mutants of its line behave like the original, so that no test can notice them. */
interface Equivalent {
  /** The number of the comment's line, counted from 1. */
  readonly at: number;
  /** The kind of the mutants that the comment is about, or one change in the form in which the report prints it. */
  readonly of: string;
  readonly reason: string;
}

const EQUIVALENT = /\/\/ Equivalent mutant \((.+)\): (.+)/;

const SHOWN_CHARACTERS = 80;

const shown = (text: string): string => text.replace(/\s+/g, " ").trim().slice(0, SHOWN_CHARACTERS);

const NOT_RUN = [ts.isImportDeclaration, ts.isExportDeclaration, ts.isInterfaceDeclaration, ts.isTypeAliasDeclaration, ts.isTypeNode];

export function mutantsOf(path: string, text: string): Mutant[] {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true);
  const lines = text.split("\n");
  const equivalents = equivalentsOf(lines);
  const lineAt = (place: number): number => tree.getLineAndCharacterOfPosition(place).line + 1;
  const mutants = new Map<string, Mutant>();
  const visit = (node: ts.Node): void => {
    if (NOT_RUN.some((isSuch) => isSuch(node))) return;
    for (const { kind, start, end, now } of changesAt(node)) {
      const line = lineAt(start);
      const change = `${shown(text.slice(start, end))} → ${shown(now)}`;
      // A line inside SQL cannot have a comment, so the "Equivalent mutant" comment is at the line where the SQL text begins.
      const beside = [...(equivalents.get(line) ?? []), ...(equivalents.get(lineAt(node.getStart())) ?? [])];
      const equivalent = beside.find(({ of }) => of === kind || of === change.trim());
      const mutant = { path, line, kind, start, end, now, code: (lines[line - 1] ?? "").trim(), change };
      mutants.set(`${start} ${end} ${now}`, equivalent === undefined ? mutant : { ...mutant, equivalent });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return [...mutants.values()];
}

/**
 * Finds the comments about equivalent mutants, by the line that they are about. If a comment is alone on its line, it is about the next
 * line.
 */
function equivalentsOf(lines: readonly string[]): Map<number, Equivalent[]> {
  const found = lines.flatMap((text, at) => {
    const [comment, of, reason] = EQUIVALENT.exec(text) ?? [];
    if (of === undefined || reason === undefined) return [];
    const below = text.trim() === comment ? lines.slice(at).findIndex((each) => !EQUIVALENT.test(each)) : 0;
    return [{ line: at + 1 + below, equivalent: { at: at + 1, of, reason } }];
  });
  return new Map([...Map.groupBy(found, ({ line }) => line)].map(([line, those]) => [line, those.map(({ equivalent }) => equivalent)]));
}

/** Returns the "Equivalent mutant" comments about mutants that do not exist any more. */
export const staleEquivalents = (text: string, mutants: readonly Mutant[]): Equivalent[] =>
  [...equivalentsOf(text.split("\n")).values()]
    .flat()
    .filter(({ at, of }) => !mutants.some(({ equivalent: one }) => one?.at === at && one.of === of));

export const withMutant = (text: string, { start, end, now }: Mutant): string => text.slice(0, start) + now + text.slice(end);

/** Returns the folder of a file in the report: `src/jobs`, `src/features/pages`. */
export const folderOf = (path: string): string => {
  const folders = path.split("/").slice(0, -1);
  return folders.slice(0, folders[1] === "features" ? 3 : 2).join("/");
};

/** Chooses entries of a list at random; the same seed makes the same choice. */
export function sampleOf<T>(all: readonly T[], size: number, seed: number): T[] {
  const random = mulberry32(seed);
  const left = [...all];
  const chosen: T[] = [];
  while (chosen.length < size && left.length > 0) chosen.push(...left.splice(Math.floor(random() * left.length), 1));
  return chosen;
}

/** Makes random numbers by Mulberry32. The algorithm Mulberry32 is short, and its numbers are random enough to choose from a list. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
