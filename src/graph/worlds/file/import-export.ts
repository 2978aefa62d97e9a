/**
 * Imports and exports world files (docs/operating/worlds.md). A new world can begin with the data of a world file, and the file's data can be merged
 * into an existing world. An export writes a world's data into a world file.
 *
 * **Invariant:** a world file is loaded completely or not at all, in one transaction, and loading sends no webhooks.
 */
import { type TSchema, Type } from "typebox";
import type { NodeRef } from "#auth/token";
import { insertToken, listTokens } from "#auth/tokens.store";
import { unixSeconds } from "#kernel/clock";
import { nodeId } from "#kernel/ids";
import { suggestion } from "#kernel/suggestion";
import { nextTurn } from "#kernel/turns";
import type { Reader, Transaction } from "#storage/database";
import type { Reference, WorldEntry, WorldSection } from "../../contract/feature.ts";
import type { Registry } from "../../contract/registry.ts";
import { REFERS_TO, type SchemaNode } from "../../schema/schema-node.ts";
import {
  calendarWith,
  requireEndpoints,
  requireMigrations,
  standardCalendar,
  type VersionCalendar,
  type VersionsEntry,
} from "../../versions/calendar.ts";
import { findNode, findTokenHash, hasAnything, typesOfFewNodes } from "../nodes.store.ts";
import type { OpenWorld } from "../open-world.ts";
import { entryOf, ownSchemas, saveSettings, type WorldSettings, withSettings } from "../settings.ts";
import { scopeWarnings, type TokenEntry, tokenEntry, tokenHashOf, tokenOf, tokenReferences, tokenToEntry } from "../tokens.ts";
import type { Profile } from "../world.ts";
import { entryReader } from "./entry-reader.ts";
import { atItsLine, type FileText, type PartsTaker, readParts } from "./parts.ts";
import { below, WorldProblem } from "./schema-words.ts";
import type { WorldPart } from "./text.ts";

export interface ImportOptions {
  /**
   * Whether an entry of the file replaces a stored entry with the same id. If this option is false, an entry with the id of a stored entry is an
   * error.
   */
  readonly isMerge: boolean;
  /** Whether parsing the file may block the event loop (`FileText`). */
  readonly mayHold?: boolean | undefined;
  /** Called repeatedly with the number of entries that have been stored so far. */
  readonly onStored?: ((count: number, total: number) => void) | undefined;
}

export interface WorldFile {
  readonly clock: { now?: number; frozen: boolean } | undefined;
  readonly settings: WorldSettings;
  readonly tokens: readonly TokenEntry[];
  readonly sections: readonly { readonly section: WorldSection; readonly entries: readonly WorldEntry[] }[];
}

export const sectionsOf = (registry: Registry): readonly WorldSection[] => registry.features.flatMap((feature) => feature.worldSections ?? []);

export const isEmpty = async (world: OpenWorld): Promise<boolean> => !(await hasAnything(world.database.reader));

/**
 * Loads a world file into a world. Returns warnings about the world file. Throws `WorldFileProblem` with the path and the line of a problem in the
 * file.
 */
export async function importWorld(world: OpenWorld, registry: Registry, text: string, options: ImportOptions): Promise<readonly string[]> {
  const source = { text, mayHold: options.mayHold };
  const file = await readWorldFile(source, world, registry);
  await loadAll(world, file, source, (tx) => load(tx, world, file, options));
  return scopeWarnings(file.tokens, registry.scopes);
}

/** Reads and checks a world file without storing its entries. Throws `WorldFileProblem` if the file is wrong. */
export const readWorldFile = (source: FileText, world: OpenWorld, registry: Registry): Promise<WorldFile> =>
  withLines(source, () => readParts(source, () => new FileTaker(registry, world.calendar)));

/**
 * Sets the world's clock, profile and calendar, and runs `body` in one transaction. While `body` runs, the world already has the time and profile of
 * the file, because both are needed to check entries. Throws `WorldFileProblem` if an entry of the file is wrong.
 */
export function loadAll(world: OpenWorld, { clock, settings }: WorldFile, source: FileText, body: (tx: Transaction) => Promise<void>): Promise<void> {
  const run = (): Promise<void> => {
    if (clock === undefined) return world.database.write(body);
    return world.clock.setWith(clock.now === undefined ? world.clock.nowMs() : clock.now * 1000, clock.frozen, body);
  };
  return withLines(source, () => withSettings(world, settings, run));
}

async function withLines<T>(source: FileText, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof WorldProblem) throw await atItsLine(error, source);
    throw error;
  }
}

/** Checks the sections of a world file by their schemas. Throws `WorldProblem`. */
class FileTaker implements PartsTaker<WorldFile> {
  readonly #registry: Registry;
  readonly #calendar: VersionCalendar;
  readonly #sections: readonly WorldSection[];
  /** The schema of an entry, by the key of its list in the world file. */
  readonly #entries = new Map<string, TSchema>([["tokens", tokenEntry]]);
  readonly #own = new Map<string, unknown>();
  readonly #lists = new Map<string, unknown[]>();

  constructor(registry: Registry, calendar: VersionCalendar) {
    this.#registry = registry;
    this.#calendar = calendar;
    this.#sections = sectionsOf(registry);
    for (const { key, entry } of this.#sections) this.#entries.set(key, entry);
  }

  take(part: WorldPart): void {
    const { key } = part;
    // World files in JSON may have the key `$schema`, from which editors find the schema. The import ignores the key `$schema`.
    if (key === "$schema") return;
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#takeEntries(part, entry);
    else if (!Object.hasOwn(ownSchemas, key)) {
      const known = [...Object.keys(ownSchemas), ...this.#entries.keys()];
      throw new WorldProblem(key, `is not known here${suggestion(key, known)}`);
    } else {
      const value = "items" in part ? part.items : (part.value ?? undefined);
      if (value !== undefined) this.#own.set(key, readUnder(key, ownSchemas[key as keyof typeof ownSchemas], value));
    }
  }

  #takeEntries(part: WorldPart, schema: TSchema): void {
    const { key } = part;
    if ("value" in part) {
      // In a world file, a list without a value has no entries. A value that is neither null nor a list is refused.
      if (part.value !== null) readUnder(key, Type.Array(schema), part.value);
      return;
    }
    const entries = this.#lists.getOrInsertComputed(key, () => []);
    for (const item of part.items) entries.push(readUnder(`${key}[${entries.length}]`, schema, item));
  }

  result(): WorldFile {
    const versions = this.#own.get("versions") as VersionsEntry | undefined;
    const entriesOf = (key: string): readonly unknown[] => this.#lists.get(key) ?? [];
    return {
      clock: this.#own.get("clock") as WorldFile["clock"],
      settings: {
        profile: this.#own.get("profile") as Profile | undefined,
        calendar: versions === undefined ? undefined : calendarUnder("versions", this.#calendar, versions, this.#registry),
      },
      tokens: entriesOf("tokens") as readonly TokenEntry[],
      sections: this.#sections.map((section) => ({ section, entries: entriesOf(section.key) as readonly WorldEntry[] })),
    };
  }
}

function calendarUnder(key: string, base: VersionCalendar, entry: VersionsEntry, registry: Registry): VersionCalendar {
  try {
    requireEndpoints(entry, registry.endpointNames);
    return calendarWith(base, entry);
  } catch (error) {
    throw below(error, key);
  }
}

function readUnder(key: string, schema: TSchema, value: unknown): unknown {
  try {
    return entryReader(schema)(value);
  } catch (error) {
    throw below(error, key);
  }
}

/** The number of entries after which an import reports its progress. */
const REPORTED_EVERY = 1_000;
/**
 * The number of entries after which an import lets the server serve other requests. Storing a hundred entries, with some SQL statements each, takes 5
 * ms.
 */
const PAUSED_EVERY = 100;

async function load(tx: Transaction, world: OpenWorld, file: WorldFile, { isMerge, onStored }: ImportOptions): Promise<void> {
  const total = file.sections.reduce((sum, { entries }) => sum + entries.length, 0);
  let count = 0;
  const stored = (): Promise<void> | undefined => {
    if (++count % REPORTED_EVERY === 0) onStored?.(count, total);
    return count % PAUSED_EVERY === 0 ? tx.pause() : undefined;
  };
  for (const { section, entries } of file.sections) await insertAll(tx, world, section, entries, isMerge, undefined, stored);
  await requireReferences(tx, world, file);
  for (const [index, entry] of file.tokens.entries()) {
    if (index % PAUSED_EVERY === PAUSED_EVERY - 1) await tx.pause();
    await insertTokenEntry(tx, world, entry, `tokens[${index}]`, isMerge);
  }
  await saveSettings(tx, file.settings);
}

/**
 * Checks the references in a file's entries. References are checked after all entries except the tokens have been inserted, because an entry may
 * refer to a later one. `isChecked` says whether a reference is to be checked.
 */
export async function requireReferences(
  tx: Transaction,
  world: OpenWorld,
  { sections, tokens, settings }: WorldFile,
  isChecked: (entry: WorldEntry | TokenEntry, id: string) => boolean = () => true,
): Promise<void> {
  const nodes = new Map<string, NodeRef>();
  const check = (entry: WorldEntry | TokenEntry, references: readonly Reference[], place: string): Promise<void> =>
    checkReferences(
      tx,
      references.filter(({ id }) => isChecked(entry, id)),
      place,
      nodes,
    );
  for (const { section, entries } of sections) {
    for (const [index, entry] of entries.entries()) {
      const place = `${section.key}[${index}]`;
      if (index % PAUSED_EVERY === PAUSED_EVERY - 1) await tx.pause();
      await check(entry, section.references(entry), place);
      requireMigrations(section.migrationNames?.(entry) ?? [], `${place}.migrations`, settings.calendar ?? world.calendar);
    }
  }
  for (const [index, entry] of tokens.entries()) {
    if (index % PAUSED_EVERY === PAUSED_EVERY - 1) await tx.pause();
    await check(entry, tokenReferences(entry), `tokens[${index}]`);
  }
}

/**
 * Stores the entries of one section of the world file. If `only` is given, only its entries are stored, and the server checks the others just for
 * repeated identities.
 */
export async function insertAll(
  tx: Transaction,
  world: OpenWorld,
  section: WorldSection,
  entries: readonly WorldEntry[],
  isMerge: boolean,
  only?: ReadonlySet<unknown>,
  stored?: () => Promise<void> | undefined,
): Promise<void> {
  const seen = new Set<string>();
  for (const [index, entry] of entries.entries()) {
    const place = `${section.key}[${index}]`;
    const identity = identityOf(section, entry);
    if (section.identity?.length !== 0 && seen.has(identity)) throw new WorldProblem(place, `repeats the ${nameOfIdentity(section)} ${identity}`);
    seen.add(identity);
    if (only?.has(entry) === false) continue;
    await stored?.();
    try {
      if (await section.insert(tx, entry, world)) continue;
      const stored = isMerge ? await section.find(tx, identity, world) : undefined;
      if (stored === undefined) throw new WorldProblem(section.identity === undefined ? "id" : "", `${identity} is taken`);
      await section.replace(tx, section.secrets?.kept(entry, stored) ?? entry, world);
    } catch (error) {
      throw below(error, place);
    }
  }
}

export const identityOf = (section: WorldSection, entry: WorldEntry): string =>
  (section.identity ?? ["id"]).map((key) => String(entry[key])).join(" ");

/**
 * Whether the entries of a section have identifying keys. Entries without an identity are always added as new records, even when a file is merged.
 */
export const hasIdentity = (section: WorldSection): boolean => section.identity?.length !== 0;

const nameOfIdentity = (section: WorldSection): string => (section.identity ?? ["id"]).join(" and ");

/**
 * Checks that each reference is to an existing node of an allowed type, which belongs to the right owner. `nodes` is a cache of the nodes that were
 * found. Throws `WorldProblem`.
 */
export async function checkReferences(
  reader: Reader,
  references: readonly Reference[],
  place: string,
  nodes: Map<string, NodeRef> = new Map(),
): Promise<void> {
  for (const { path, types, id, owner } of references) {
    const node = nodes.get(id) ?? (await findNode(reader, nodeId(id)));
    const where = place === "" ? path : `${place}.${path}`;
    if (node === undefined) throw new WorldProblem(where, `refers to ${id}, which does not exist`);
    nodes.set(id, node);
    if (!types.includes(node.type)) throw new WorldProblem(where, `refers to ${id}, which is a ${node.type} and not a ${types.join(" or ")}`);
    if (owner !== undefined && node.owner !== owner) {
      throw new WorldProblem(where, `refers to ${id}, which belongs to ${node.owner} and not to ${owner}`);
    }
  }
}

export async function insertTokenEntry(tx: Transaction, world: OpenWorld, entry: TokenEntry, place: string, isMerge: boolean): Promise<void> {
  try {
    const hash = tokenHashOf(entry);
    if (hash === undefined) throw new WorldProblem("token", "is required");
    const isNew = await insertToken(tx, tokenOf(entry, world.ids.mint(), unixSeconds(world.clock)), hash);
    // If a merge finds the file's token in the database, the stored token stays. The token in the file and the stored token can differ only if the
    // stored one was revoked.
    if (!isNew && !isMerge) throw new WorldProblem("token", "is taken");
  } catch (error) {
    throw below(error, place);
  }
}

/** The number of rows after which an export lets the server serve other requests. */
const EXPORT_PAGE_ROWS = 200;

export interface ExportOptions {
  /** Whether the export contains the secrets of apps and callbacks in clear text. */
  readonly secrets?: boolean | undefined;
  /** Whether the export contains tokens and the hashes of stream keys. False if the export is for a reader who must not read secrets. */
  readonly hashes?: boolean | undefined;
}

/**
 * Returns the entry for a reader who must not read secrets. The hashes of secrets are left out of the export, too, because somebody could test
 * guessed values against them.
 */
export const withoutSecrets = (section: WorldSection, entry: WorldEntry): WorldEntry =>
  Object.fromEntries(Object.entries(section.secrets?.without(entry) ?? entry).filter(([key]) => !key.endsWith("_sha256")));

/** Exports the whole world as a world file, with the data of one moment. The export writes tokens and stream keys as SHA-256 (D-263). */
export function exportWorld(
  world: OpenWorld,
  registry: Registry,
  { secrets = false, hashes = true }: ExportOptions = {},
): Promise<Record<string, unknown>> {
  const shown = (section: WorldSection, entry: WorldEntry): WorldEntry =>
    secrets ? entry : hashes ? (section.secrets?.without(entry) ?? entry) : withoutSecrets(section, entry);
  return world.database.snapshot(async (reader) => {
    const pace = new Pace();
    const file: Record<string, unknown> = { clock: { now: unixSeconds(world.clock), frozen: world.clock.isFrozen }, profile: world.profile };
    if (world.calendar !== standardCalendar) file.versions = entryOf(world.calendar);
    // Listing a section runs an SQL statement, and compiling the statement takes longer than reading the few rows of a small world. Therefore an
    // export skips sections that have no entries in a world with these types of nodes.
    const types = await typesOfFewNodes(reader);
    for (const section of sectionsOf(registry)) {
      if (types !== undefined && !canHaveEntries(section, types)) continue;
      const entries: WorldEntry[] = [];
      await eachPage(
        pace,
        (page) => section.list(reader, page, world),
        (entry) => entries.push(shown(section, entry)),
      );
      if (entries.length > 0) file[section.key] = entries;
    }
    if (!hashes) return file;
    const tokens: Record<string, unknown>[] = [];
    const all: Parameters<typeof tokenToEntry>[0][] = [];
    await eachPage(
      pace,
      (page) => listTokens(reader, page),
      (token) => all.push(token),
    );
    // The export lists the oldest token first. An import makes the ids of tokens in the order of the file, so the next export lists the tokens in the
    // same order.
    for (const token of all.reverse()) {
      await pace.count(1);
      const hash = await findTokenHash(reader, token.id);
      if (hash !== undefined) tokens.push(tokenToEntry(token, hash));
    }
    if (tokens.length > 0) file.tokens = tokens;
    return file;
  });
}

/** Whether a world with nodes of these types may have entries of the section: its own nodes, or entries that must refer to such nodes. */
function canHaveEntries({ nodeType, entry }: WorldSection, types: ReadonlySet<string>): boolean {
  if (nodeType !== undefined) return types.has(nodeType);
  const { required = [], properties = {} }: SchemaNode = entry;
  return required.every((key) => properties[key]?.[REFERS_TO]?.types.some((type) => types.has(type)) ?? true);
}

type ReadList<T> = (page: {
  limit: number;
  after?: readonly string[];
}) => Promise<{ rows: readonly T[]; hasNext: boolean; lastKey?: readonly string[] }>;

/**
 * Counts the rows of an export, and lets other requests run after every few rows. An export of many short lists makes no more pauses than an export
 * of one long list.
 */
class Pace {
  #rows = 0;

  count(rows: number): Promise<void> | undefined {
    this.#rows += rows;
    if (this.#rows < EXPORT_PAGE_ROWS) return undefined;
    this.#rows = 0;
    return nextTurn();
  }
}

/** The number of rows whose reading takes as long as running one SQL statement. */
const STATEMENT_ROWS = 10;

async function eachPage<T>(pace: Pace, read: ReadList<T>, take: (row: T) => void): Promise<void> {
  let after: readonly string[] | undefined;
  for (;;) {
    const page = await read(after === undefined ? { limit: EXPORT_PAGE_ROWS } : { limit: EXPORT_PAGE_ROWS, after });
    for (const row of page.rows) take(row);
    await pace.count(page.rows.length + STATEMENT_ROWS);
    if (!page.hasNext || page.lastKey === undefined) return;
    after = page.lastKey;
  }
}
