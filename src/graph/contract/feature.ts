/** A feature: the parts that it gives to the server in its `index.ts`. */
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
  /** The place of the reference in the entry, e.g. `users[0]`. */
  readonly path: string;
  readonly types: readonly string[];
  readonly id: string;
  /** If this is set, the node must also belong to this owner, e.g. a PSID to the page of the label. */
  readonly owner?: string;
}

/** An entry of a world file after it was checked: ids are strings, and defaults are filled in. */
export type WorldEntry = Readonly<Record<string, unknown>>;

/** How to export and merge entries that hold secrets in clear text (D-263). */
export interface EntrySecrets {
  /** Returns the entry as an export without secrets writes it. */
  without(entry: WorldEntry): WorldEntry;
  /** Returns the entry with the stored secrets that the entry leaves out, so that merging an export does not remove these secrets. */
  kept(entry: WorldEntry, stored: WorldEntry): WorldEntry;
}

/** One kind of node, as a world file and the control API describe it (docs/operating/worlds.md). */
export interface WorldSection {
  /** The key of the section in the world file, e.g. `labels`. */
  readonly key: string;
  /** The schema of one entry; unknown keys are errors. */
  readonly entry: TObject;
  /**
   * The keys that identify an entry, by default `["id"]`. If the list is empty, entries are not nodes, and loading a file only adds entries
   * (`activity`).
   */
  readonly identity?: readonly string[];
  /** The type of the nodes that the entries are. If it is given, an entry exists only together with its node in the directory. */
  readonly nodeType?: string | undefined;
  /**
   * Makes the id of an entry that the control API gets without an id. Only needed if the world's own ids do not fit, e.g. because they are above
   * 2^53.
   */
  mintId?(tx: Transaction, world: World): Promise<string>;
  /**
   * The nodes to which the entry refers, with their types and owner. The nodes to which an entry refers must exist after the whole file is loaded.
   */
  references(entry: WorldEntry): readonly Reference[];
  /** The names under `migrations` in the entry. The world's calendar must have these migrations (D-82). */
  migrationNames?(entry: WorldEntry): readonly string[];
  readonly secrets?: EntrySecrets;
  /** Stores an entry. Returns false if another entry has the same identity. Called in one transaction for the whole file. */
  insert(tx: Transaction, entry: WorldEntry, world: World): Promise<boolean>;
  find(reader: Reader, id: string, world: World): Promise<WorldEntry | undefined>;
  list(reader: Reader, page: PageRequest, world: World): Promise<ListPage<WorldEntry>>;
  /** Replaces the whole stored entry. */
  replace(tx: Transaction, entry: WorldEntry, world: World): Promise<void>;
  /** Removes the entry and everything that belongs to it. Returns false if no entry has this id. */
  remove(tx: Transaction, id: string, world: World): Promise<boolean>;
}

/** The number of deleted or emptied records of each kind, e.g. `{"live comments": 2}`. */
export type Erased = Readonly<Record<string, number>>;

export interface Feature {
  readonly name: string;
  readonly migrations: readonly Migration[];
  /** Every policy that the feature defines, for its own contracts and those of others (D-16). */
  readonly policies?: readonly Policy[];
  /** Scopes that the feature needs besides the scopes of its policies. */
  readonly scopes?: readonly string[];
  /** Errors that only this feature throws. */
  readonly errors?: readonly ErrorDefinition[];
  readonly nodeTypes?: readonly NodeType[];
  readonly operations?: readonly Served[];
  /** Fields that the feature adds to another feature's node type. */
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
  /** Makes the ports that this feature provides. All worlds share these ports, so a port keeps no state of a world. */
  ports?(ports: PortRegistry): Partial<Ports>;
  /** Removes everything that the feature stores below a page, app or account that the control API removes. */
  onOwnerDeleted?(tx: Transaction, owner: NodeId, world: World): Promise<void>;
  /** Erases the data of a person with these ids, in transactions of its own. The function may be called again for the same person (D-172). */
  erasePerson?(world: World, ids: readonly string[]): Promise<Erased>;
}

export const defineFeature = (feature: Feature): Feature => feature;

/** Converts a feature's node type to the general type. Only the feature itself knows the type of its rows. */
export const nodeType = <R extends import("#storage/sql").Row>(type: NodeType<R>): NodeType => type as unknown as NodeType;

/** An operator's option for one feature, as a flag, an environment variable or a key of the config file. */
export interface Setting {
  /** The option's name, unique in the server, with the unit last, e.g. `labels_per_page_max`. */
  readonly name: string;
  /** The word for the option's value in `--help`, e.g. `N`. */
  readonly value: string;
  /** The smallest value of the option. The value is a safe integer. */
  readonly minimum: number;
  readonly default: number;
  /** A sentence for `--help` and for the configuration page. */
  readonly summary: string;
}

export const defineSetting = (setting: Setting): Setting => setting;

/** The operator's value of a setting for the world, or the setting's default. */
export const readSetting = ({ settings }: Pick<World, "settings">, { name, default: otherwise }: Setting): number => settings[name] ?? otherwise;
