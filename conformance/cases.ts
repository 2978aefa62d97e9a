/** Reads case files into cases. An unknown key in a case file is an error, so that nobody overlooks a misspelt expectation. */
import { basename } from "node:path";
import { caseTexts } from "./files.ts";
import { parseStep, type Step } from "./step-format.ts";
import { readYaml } from "./yaml.ts";

type Profile = "strict" | "clients";

export interface Case {
  readonly area: string;
  /** The path of the case file below `cases/`. */
  readonly file: string;
  /** The title of the case as its file writes it. */
  readonly name: string;
  /** The title of the case, followed by the row of `examples` and the response profile if the file makes several cases with the same name. */
  readonly title: string;
  readonly clauses: readonly string[];
  readonly decisions: readonly string[];
  readonly profile: Profile;
  /** The name of the base world, which is a file of `worlds/`. */
  readonly world: string;
  /** Entries of a world file that are added to the base world. */
  readonly fragment: Readonly<Record<string, unknown>>;
  /**
   * Whether the case changes something that other cases need (the clock, an app). If it does, the case gets a server of its own, or the world is
   * restored after the case.
   */
  readonly isAlone: boolean;
  /** The options with which the case's server starts, as in `plaza.config.yaml`. */
  readonly options: Readonly<Record<string, string>>;
  readonly vars: Readonly<Record<string, unknown>>;
  readonly steps: readonly Step[];
}

/** The key of the case's server. Cases with the same key can share a server. */
export const serverKey = (testCase: Case): string =>
  JSON.stringify([testCase.profile, testCase.world, testCase.fragment, testCase.options, testCase.isAlone ? testCase.title : ""]);

/**
 * Groups the cases for servers that the suite starts. In each group, the cases that must be alone come last, and the world is reset before each of
 * them; a server for each of these cases would take half of the time of the whole suite.
 */
export const onOneServer = (cases: readonly Case[]): Case[][] =>
  [...Map.groupBy(cases, (testCase) => serverKey({ ...testCase, isAlone: false })).values()].map((group) => [
    ...group.filter(({ isAlone }) => !isAlone),
    ...group.filter(({ isAlone }) => isAlone),
  ]);

type Raw = Record<string, unknown>;

const FILE_KEYS = ["area", "world", "profile", "vars", "defaults", "blocks", "cases"];
const CASE_KEYS = ["title", "clauses", "decisions", "profile", "world", "base_world", "alone", "options", "vars", "defaults", "examples", "steps"];

class CaseFormatError extends Error {}

export function loadCases(texts: Readonly<Record<string, string>> = caseTexts): Case[] {
  const files = Object.keys(texts);
  const sharedBlocks = files.includes("_blocks.yaml") ? readMapping(texts, "_blocks.yaml") : {};
  const cases = files
    .filter((path) => !basename(path).startsWith("_"))
    .sort()
    .flatMap((path) => casesOf(readMapping(texts, path), path, sharedBlocks));
  const titles = new Set<string>();
  for (const { title, file } of cases) {
    if (titles.has(title)) throw new CaseFormatError(`${file}: two cases have the title "${title}"`);
    titles.add(title);
  }
  return cases;
}

function readMapping(texts: Readonly<Record<string, string>>, path: string): Raw {
  const read = readYaml(texts[path] ?? "");
  if (!isRaw(read)) throw new CaseFormatError(`${path}: not a mapping`);
  return read;
}

const isRaw = (value: unknown): value is Raw => typeof value === "object" && value !== null && !Array.isArray(value);

function refuseUnknown(raw: Raw, known: readonly string[], where: string): void {
  for (const key of Object.keys(raw))
    if (!known.includes(key)) throw new CaseFormatError(`${where}: unknown key ${key} (known: ${known.join(", ")})`);
}

const listOf = <T>(value: unknown): T[] => (value === undefined ? [] : Array.isArray(value) ? value : [value]) as T[];

function casesOf(file: Raw, path: string, sharedBlocks: Raw): Case[] {
  refuseUnknown(file, FILE_KEYS, path);
  const blocks = { ...sharedBlocks, ...((file.blocks as Raw | undefined) ?? {}) };
  return listOf<Raw>(file.cases).flatMap((raw, index) => {
    const where = `${path}: ${raw.title ?? `case ${index + 1}`}`;
    refuseUnknown(raw, CASE_KEYS, where);
    if (typeof raw.title !== "string" || !/^[A-Z][A-Za-z0-9, -]*: ./.test(raw.title)) {
      throw new CaseFormatError(`${where}: the title must read like "A7: a deleted persona is no longer listed"`);
    }
    const defaults = { ...((file.defaults as Raw | undefined) ?? {}), ...((raw.defaults as Raw | undefined) ?? {}) };
    const steps = expand(listOf<Raw>(raw.steps), blocks, where).map((step, at) => parseStep(step, defaults, `${where}, step ${at + 1}`));
    if (!steps.some((step) => step.isExpecting)) throw new CaseFormatError(`${where}: the case expects nothing, so it cannot fail`);
    const rows = raw.examples === undefined ? [{}] : listOf<Raw>(raw.examples);
    const profiles = listOf<Profile>(raw.profile ?? file.profile ?? "strict");
    const name = raw.title;
    return rows.flatMap((row) =>
      profiles.map(
        (profile): Case => ({
          area: String(file.area ?? basename(path, ".yaml")),
          file: path,
          name,
          title: name + rowName(row) + (profiles.length > 1 ? ` [${profile}]` : ""),
          clauses: listOf<string>(raw.clauses),
          decisions: listOf<string>(raw.decisions),
          profile,
          world: String(raw.base_world ?? file.world ?? "standard"),
          fragment: (raw.world as Raw | undefined) ?? {},
          isAlone: raw.alone === true,
          options: (raw.options as Record<string, string> | undefined) ?? {},
          vars: { ...((file.vars as Raw | undefined) ?? {}), ...((raw.vars as Raw | undefined) ?? {}), ...row },
          steps,
        }),
      ),
    );
  });
}

function rowName(row: Raw): string {
  const names = Object.entries(row).map(([key, value]) => `${key} ${typeof value === "string" ? value : JSON.stringify(value)}`);
  if (row.row !== undefined) return ` (${row.row})`;
  const text = names.join(", ");
  return text === "" ? "" : ` (${text.length > 120 ? `${text.slice(0, 120)}…` : text})`;
}

/** Replaces each `use` by the steps of the named block. The key `with` beside `use` sets variables for the steps of the block. */
function expand(steps: readonly Raw[], blocks: Raw, where: string, depth = 0): Raw[] {
  if (depth > 5) throw new CaseFormatError(`${where}: blocks use each other in a circle`);
  return steps.flatMap((step) => {
    if (step.use === undefined) return [step];
    refuseUnknown(step, ["use", "with"], where);
    const block = blocks[String(step.use)];
    if (!Array.isArray(block)) throw new CaseFormatError(`${where}: no block is named ${step.use} (known: ${Object.keys(blocks).join(", ")})`);
    const settings: Raw[] = isRaw(step.with) ? [{ set: step.with }] : [];
    return [...settings, ...expand(block as Raw[], blocks, where, depth + 1)];
  });
}
