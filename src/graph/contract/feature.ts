/** A feature, with everything that it provides to the server in its `index.ts`. */
import type { TObject } from "typebox";
import type { Policy } from "#auth/policy";
import type { JobKind } from "#jobs/job-kind";
import type { ErrorDefinition } from "#kernel/errors";
import type { NodeId } from "#kernel/ids";
import type { PortName, PortRegistry, Ports } from "#kernel/ports";
import type { Migration, Reader, Transaction } from "#storage/database";
import type { ListPage, PageRequest } from "#storage/keyset";
import type { WebhookField } from "#webhooks/catalogue/field";
import type { VersionChange } from "../versions/changes.ts";
import type { World } from "../worlds/world.ts";
import type { Field, NodeType, Served } from "./operation.ts";

export interface Reference {
  /** The path of the reference in the entry of the world file, e.g. `users[0]`. */
  readonly path: string;
  readonly types: readonly string[];
  readonly id: string;
  /**
   * The page, app or account to which the node must belong, if the reference demands one. For example, the PSID in a label must belong to the page of
   * the label.
   */
  readonly owner?: string;
}

/** An entry of a world file after it was checked: its ids are strings, and its defaults are filled in. */
export type WorldEntry = Readonly<Record<string, unknown>>;

/** Functions for entries of world files that have secrets in clear text, for exports and merges (D-263). */
export interface EntrySecrets {
  /** Returns the world file's entry as it is written into an export without secrets. */
  without(entry: WorldEntry): WorldEntry;
  /**
   * Returns the entry of a world file, with the stored secrets added that the entry does not have. Because of this function, merging an export does
   * not delete stored secrets.
   */
  kept(entry: WorldEntry, stored: WorldEntry): WorldEntry;
}

/** Describes one section of a world file and its entries. The control API uses this description of world files, too (docs/operating/worlds.md). */
export interface WorldSection {
  /** The key of the section in the world file, e.g. `labels`. */
  readonly key: string;
  /** The schema of one entry of the world file. Keys of an entry that are not in the schema are errors. */
  readonly entry: TObject;
  /**
   * The keys that identify an entry of the world file, by default `["id"]`. If the list of identifying keys is empty, the entries are not nodes, and
   * loading a file only adds entries (`activity`).
   */
  readonly identity?: readonly string[];
  /**
   * The node type of the world file's entries, if the entries are nodes. An entry that is a node exists only together with its row in the directory
   * of nodes.
   */
  readonly nodeType?: string | undefined;
  /**
   * Makes an id for an entry that a caller of the control API adds without an id. This function is needed only if the world's ordinary ids do not
   * fit, for example because they are above 2^53.
   */
  mintId?(tx: Transaction, world: World): Promise<string>;
  /**
   * The nodes to which the world file's entry refers, with their types and owners. The nodes to which an entry refers must exist after the whole file
   * is loaded.
   */
  references(entry: WorldEntry): readonly Reference[];
  /**
   * The names of migrations under `migrations` in the world file's entry. The world's calendar must have the migrations that an entry names (D-82).
   */
  migrationNames?(entry: WorldEntry): readonly string[];
  readonly secrets?: EntrySecrets;
  /**
   * Stores an entry. Returns false if another entry has the same values in the identifying keys. All entries of a world file are stored in one
   * transaction.
   */
  insert(tx: Transaction, entry: WorldEntry, world: World): Promise<boolean>;
  find(reader: Reader, id: string, world: World): Promise<WorldEntry | undefined>;
  list(reader: Reader, page: PageRequest, world: World): Promise<ListPage<WorldEntry>>;
  /** Replaces the whole stored entry of the world file's section. */
  replace(tx: Transaction, entry: WorldEntry, world: World): Promise<void>;
  /** Removes the entry of the world and everything that belongs to it. Returns false if no entry has this id. */
  remove(tx: Transaction, id: string, world: World): Promise<boolean>;
}

/** The numbers of records that were deleted or emptied, by their type, e.g. `{"live comments": 2}`. */
export type Erased = Readonly<Record<string, number>>;

export interface Feature {
  readonly name: string;
  readonly migrations: readonly Migration[];
  /** All policies that the feature defines. Other features may use these policies in their contracts, too (D-16). */
  readonly policies?: readonly Policy[];
  /** Scopes that the feature needs in addition to the scopes of its policies. */
  readonly scopes?: readonly string[];
  /** Errors that only this feature throws. */
  readonly errors?: readonly ErrorDefinition[];
  readonly nodeTypes?: readonly NodeType[];
  readonly operations?: readonly Served[];
  /** Fields that the feature adds to the node type of another feature. */
  readonly fieldExtensions?: readonly { readonly on: string; readonly name: string; readonly field: Field }[];
  readonly changes?: readonly VersionChange[];
  readonly worldSections?: readonly WorldSection[];
  /** The webhook fields that apps may subscribe to. */
  readonly webhookFields?: readonly WebhookField[];
  /** The feature's background work. */
  readonly jobs?: readonly JobKind<World>[];
  /** Options that an operator can set for this feature. */
  readonly settings?: readonly Setting[];
  /** The ports of other features that this feature needs. */
  readonly needs?: readonly PortName[];
  /** Makes the ports that this feature provides. All worlds use the same ports, so a port must not store data of a world. */
  ports?(ports: PortRegistry): Partial<Ports>;
  /** Deletes everything that belongs to a page, app or account, when the control API deletes that owner. */
  onOwnerDeleted?(tx: Transaction, owner: NodeId, world: World): Promise<void>;
  /**
   * Erases the data of the person to whom these ids belong. The function that erases a person's data opens its own transactions, and may be called
   * again for the same person (D-172).
   */
  erasePerson?(world: World, ids: readonly string[]): Promise<Erased>;
}

export const defineFeature = (feature: Feature): Feature => feature;

/** Converts a feature's node type to the type `NodeType` of all features. Only the feature itself knows the type of its rows. */
export const nodeType = <R extends import("#storage/sql").Row>(type: NodeType<R>): NodeType => type as unknown as NodeType;

/** An operator's option for one feature. An operator can set the option as a flag, an environment variable or a key of the config file. */
export interface Setting {
  /** The option's name, which is unique in the server and ends with the unit, e.g. `labels_per_page_max`. */
  readonly name: string;
  /** The name of the option's value in `--help`, e.g. `N`. */
  readonly value: string;
  /** The smallest allowed value of the option. The value is always a safe integer. */
  readonly minimum: number;
  readonly default: number;
  /** A sentence about the option for `--help` and for the docs page about configuration. */
  readonly summary: string;
}

export const defineSetting = (setting: Setting): Setting => setting;

/** The value that the operator has set for the option, or the option's default. */
export const readSetting = ({ settings }: Pick<World, "settings">, { name, default: otherwise }: Setting): number => settings[name] ?? otherwise;
