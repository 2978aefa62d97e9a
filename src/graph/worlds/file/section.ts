/**
 * Makes the sections of world files. A section made here has typed entries, references from the schema, the export of rows, and nodes with an owner.
 */
import type { Static, TObject } from "typebox";
import { isNodeId, type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import type { ListPage, PageRequest } from "#storage/keyset";
import type { Reference, WorldEntry, WorldSection } from "../../contract/feature.ts";
import { REFERS_TO, type SchemaNode } from "../../schema/schema-node.ts";
import { findNode } from "../nodes.store.ts";
import type { World } from "../world.ts";
import { WorldProblem } from "./schema-words.ts";

interface SectionParts<S extends TObject, R extends object> extends Pick<WorldSection, "key" | "identity" | "nodeType" | "mintId" | "secrets"> {
  readonly entry: S;
  /** References that the schema cannot describe with `idOf`, because they depend on more than one key. */
  references?(entry: Static<S>): readonly Reference[];
  migrationNames?(entry: Static<S>): readonly string[];
  /** Stores an entry. Returns false if another entry already has the new entry's id. */
  insert(tx: Transaction, entry: Static<S>, world: World): Promise<boolean>;
  find(reader: Reader, id: NodeId, world: World): Promise<R | undefined>;
  list(reader: Reader, page: PageRequest, world: World): Promise<ListPage<R>>;
  /**
   * Makes the world file's entry for a row. By default the exported entry is the row itself. Keys whose value is null or undefined are left out of
   * the exported entry.
   */
  entryOf?(row: R, reader: Reader, world: World): object | Promise<object>;
  replace(tx: Transaction, entry: Static<S>, world: World): Promise<void>;
  remove(tx: Transaction, id: NodeId, world: World): Promise<boolean>;
}

interface OwnedParts<S extends TObject, R extends object> extends Omit<SectionParts<S, R>, "find" | "replace" | "remove"> {
  readonly nodeType: string;
  /** The key of the entry that has the owner's id. The owner of a stored entry cannot change. */
  readonly owner: string;
  find(reader: Reader, owner: NodeId, id: string): Promise<R | undefined>;
  replace(tx: Transaction, entry: Static<S>, world: World, stored: R): Promise<void>;
  remove(tx: Transaction, owner: NodeId, id: NodeId, world: World): Promise<boolean>;
}

export function section<S extends TObject, R extends object>(parts: SectionParts<S, R>): WorldSection {
  const entryOf = async (row: R, reader: Reader, world: World): Promise<WorldEntry> => {
    const entry = (await parts.entryOf?.(row, reader, world)) ?? row;
    return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== null && value !== undefined));
  };
  return {
    ...(parts as SectionParts<TObject, R>),
    references: (entry) => [...referencesIn(parts.entry, entry, entry), ...(parts.references?.(entry as Static<S>) ?? [])],
    async find(reader, id, world) {
      const row = parts.identity !== undefined || isNodeId(id) ? await parts.find(reader, id as NodeId, world) : undefined;
      return row === undefined ? undefined : entryOf(row, reader, world);
    },
    async list(reader, page, world) {
      const found = await parts.list(reader, page, world);
      return { ...found, rows: await Promise.all(found.rows.map((row) => entryOf(row, reader, world))) };
    },
    remove: (tx, id, world) => parts.remove(tx, parts.identity === undefined ? nodeId(id) : (id as NodeId), world),
  };
}

/**
 * Makes a section of the world file for nodes that belong to an owner. The feature finds a node with an owner in its table by the owner's id and the
 * node's id.
 */
export const ownedSection = <S extends TObject, R extends object>(parts: OwnedParts<S, R>): WorldSection =>
  section<S, R>({
    ...parts,
    async find(reader, id) {
      const node = await findNode(reader, id);
      return node?.type === parts.nodeType ? parts.find(reader, node.owner, id) : undefined;
    },
    async replace(tx, entry, world) {
      const ids = entry as Record<string, NodeId>;
      const stored = await parts.find(tx, ids[parts.owner] as NodeId, ids.id as NodeId);
      if (stored === undefined) throw new WorldProblem(parts.owner, "cannot change");
      await parts.replace(tx, entry, world, stored);
    },
    async remove(tx, id, world) {
      const node = await findNode(tx, id);
      return node?.type === parts.nodeType && (await parts.remove(tx, node.owner, id, world));
    },
  });

/** The references in an entry that was read with the schema, in the order of the schema. */
function referencesIn(schema: SchemaNode, value: unknown, entry: WorldEntry, path = ""): Reference[] {
  if (value === undefined) return [];
  const refersTo = schema[REFERS_TO];
  if (refersTo !== undefined) {
    const { types, ownerKey } = refersTo;
    return [{ path, types, id: value as string, ...(ownerKey === undefined ? {} : { owner: entry[ownerKey] as string }) }];
  }
  const { items, anyOf, properties = {} } = schema;
  if (anyOf !== undefined && schema.type === undefined) {
    const meant = anyOf.find(({ type }) => (type === "object") === (typeof value === "object"));
    return meant === undefined ? [] : referencesIn(meant, value, entry, path);
  }
  if (items !== undefined) return (value as unknown[]).flatMap((one, index) => referencesIn(items, one, entry, `${path}[${index}]`));
  return Object.entries(properties).flatMap(([key, one]) =>
    referencesIn(one, (value as WorldEntry)[key], entry, path === "" ? key : `${path}.${key}`),
  );
}
