/**
 * Applies a changed world file to the world into which the file was loaded (D-195). The server compares the old text with the new text, and applies
 * the difference to the world, completely or not at all. Everything else in the world stays unchanged.
 *
 * | an entry | is |
 * | --- | --- |
 * | is new | inserted, or replaces a stored entry with the same id, as in an import |
 * | reads differently | replaced |
 * | left the file | removed, with everything that belongs to it |
 * | reads as before | left alone, however the stored entry has changed meanwhile |
 *
 * If the new file no longer has a token, that token is revoked. Records without an id (`activity`, `followers`) are only added.
 */
import { isDeepStrictEqual } from "node:util";
import { unixSeconds } from "#kernel/clock";
import type { Transaction } from "#storage/database";
import type { WorldEntry, WorldSection } from "../../contract/feature.ts";
import type { Registry } from "../../contract/registry.ts";
import { type OpenWorld, removeNode } from "../open-world.ts";
import { saveSettings } from "../settings.ts";
import { scopeWarnings, type TokenEntry, tokenHashOf } from "../tokens.ts";
import { hasIdentity, identityOf, insertAll, insertTokenEntry, loadAll, readWorldFile, requireReferences, type WorldFile } from "./import-export.ts";

export interface Reloaded {
  readonly added: number;
  readonly replaced: number;
  readonly removed: number;
  readonly warnings: readonly string[];
}

/**
 * Applies the difference between two texts of a world file to the world. `before` is the text of the world file that was loaded last. If applying the
 * difference throws `WorldFileProblem`, the world is unchanged.
 */
export async function reloadWorld(world: OpenWorld, registry: Registry, before: string, after: string): Promise<Reloaded> {
  const [old, file] = [await readWorldFile({ text: before }, world, registry), await readWorldFile({ text: after }, world, registry)];
  const sections = file.sections.map(({ section, entries }, index) => {
    const known = old.sections[index]?.entries ?? [];
    return {
      section,
      entries,
      ...(hasIdentity(section) ? differenceOf(known, entries, (entry) => identityOf(section, entry)) : newRecords(known, entries)),
    };
  });
  const tokens = differenceOf(old.tokens, file.tokens, (token) => tokenHashOf(token) ?? "");
  const changed: WorldFile = {
    ...file,
    clock: isDeepStrictEqual(old.clock, file.clock) ? undefined : file.clock,
    settings: {
      profile: old.settings.profile === file.settings.profile ? undefined : file.settings.profile,
      calendar: isDeepStrictEqual(old.settings.calendar, file.settings.calendar) ? undefined : file.settings.calendar,
    },
  };
  await loadAll(world, changed, { text: after }, async (tx) => {
    // The world's entries that the new file no longer has are removed first, because a new entry may have the same name. The sections of the file are
    // processed in reverse order, because later sections depend on earlier ones.
    for (const { section, removed } of sections.toReversed()) for (const entry of removed) await remove(tx, registry, world, section, entry);
    for (const { section, entries, stored } of sections) await insertAll(tx, world, section, entries, true, stored);
    await requireTouched(tx, world, changed, sections, tokens.stored);
    await storeTokens(tx, world, file.tokens, tokens);
    await saveSettings(tx, changed.settings);
  });
  const all = [...sections, tokens];
  const count = (read: (difference: Difference<unknown>) => number): number => all.reduce((sum, one) => sum + read(one), 0);
  return {
    added: count(({ stored, replaced }) => stored.size - replaced),
    replaced: count(({ replaced }) => replaced),
    removed: count(({ removed }) => removed.length),
    warnings: scopeWarnings([...tokens.stored], registry.scopes),
  };
}

interface Difference<T> {
  /** The entries of the new file that must be stored, because they are new or changed. */
  readonly stored: ReadonlySet<T>;
  /** The number of stored entries that an entry of the new file replaces. */
  readonly replaced: number;
  /** The entries of the old file that the new file no longer has. */
  readonly removed: readonly T[];
}

function differenceOf<T>(before: readonly T[], after: readonly T[], identity: (entry: T) => string): Difference<T> {
  const known = new Map(before.map((entry) => [identity(entry), entry]));
  const stored = new Set<T>();
  let replaced = 0;
  for (const entry of after) {
    const same = known.get(identity(entry));
    known.delete(identity(entry));
    if (isDeepStrictEqual(same, entry)) continue;
    stored.add(entry);
    if (same !== undefined) replaced++;
  }
  return { stored, replaced, removed: [...known.values()] };
}

/**
 * Finds the records that are new in a file. Each record of the old file is matched with one equal record of the new file. Records that the new file
 * no longer has stay in the world, because the world has already counted them.
 */
function newRecords(before: readonly WorldEntry[], after: readonly WorldEntry[]): Difference<WorldEntry> {
  const counts = new Map<string, number>();
  for (const record of before) counts.set(textOf(record), (counts.get(textOf(record)) ?? 0) + 1);
  const stored = new Set<WorldEntry>();
  for (const record of after) {
    const count = counts.get(textOf(record)) ?? 0;
    if (count === 0) stored.add(record);
    else counts.set(textOf(record), count - 1);
  }
  return { stored, replaced: 0, removed: [] };
}

/** The record of a world file as text. Two records whose keys are in different orders have the same text. */
const textOf = (record: WorldEntry): string => JSON.stringify(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));

/** Removes an entry. The entry of the old file may have been removed from the world already. */
async function remove(tx: Transaction, registry: Registry, world: OpenWorld, section: WorldSection, entry: WorldEntry): Promise<void> {
  await removeNode(tx, registry, world, section, identityOf(section, entry));
}

/** Checks the references in the entries that were stored, and all references to entries that the new file no longer has. */
function requireTouched(
  tx: Transaction,
  world: OpenWorld,
  file: WorldFile,
  sections: readonly (Difference<WorldEntry> & { readonly section: WorldSection })[],
  tokens: ReadonlySet<TokenEntry>,
): Promise<void> {
  const stored = new Set<unknown>([...tokens, ...sections.flatMap((section) => [...section.stored])]);
  const gone = new Set(sections.flatMap(({ section, removed }) => removed.map((entry) => identityOf(section, entry))));
  return requireReferences(tx, world, file, (entry, id) => stored.has(entry) || gone.has(id));
}

async function storeTokens(
  tx: Transaction,
  world: OpenWorld,
  entries: readonly TokenEntry[],
  { stored, removed }: Difference<TokenEntry>,
): Promise<void> {
  const hashes = (tokens: Iterable<TokenEntry>): string[] => [...tokens].map(tokenHashOf).filter((hash) => hash !== undefined);
  for (const hash of hashes(removed)) await world.tokens.revoke(tx, hash, unixSeconds(world.clock));
  // A stored token never changes, so a changed token in the file replaces the stored one, even if the stored token was revoked meanwhile.
  for (const hash of hashes(stored)) await world.tokens.forget(tx, hash);
  for (const [index, entry] of entries.entries()) if (stored.has(entry)) await insertTokenEntry(tx, world, entry, `tokens[${index}]`, false);
}
