/** The parts of a feature, which it gives to the server in its `index.ts`. */
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
  /** Its place in the entry, e.g. `users[0]`. */
  readonly path: string;
  readonly types: readonly string[];
  readonly id: string;
  /** The node must also belong to this owner, e.g. a PSID to the label's page. */
  readonly owner?: string;
}

/** An entry of a world file after validation: ids are strings, and defaults are filled in. */
export type WorldEntry = Readonly<Record<string, unknown>>;

/** Entries that hold secrets in clear text (D-263). */
export interface EntrySecrets {
  /** The entry as an export without secrets writes it. */
  without(entry: WorldEntry): WorldEntry;
  /** The entry with the stored secrets that it leaves out, so that merging an export does not remove them. */
  kept(entry: WorldEntry, stored: WorldEntry): WorldEntry;
}

/** One kind of node, as a world file and the control API describe it (docs/operating/worlds.md). */
export interface WorldSection {
  /** The key in the world file, e.g. `labels`. */
  readonly key: string;
  /** The schema of one entry; unknown keys are errors. */
  readonly entry: TObject;
  /** The keys that identify an entry, by default `["id"]`. Empty: entries are not nodes, and further ones are added (`activity`). */
  readonly identity?: readonly string[];
  /** Makes the id of an entry that the control API gets without one, if the world's own ids do not fit, e.g. because they are above 2^53. */
  mintId?(tx: Transaction, world: World): Promise<string>;
  /** The nodes that must exist, with their types and owner, after everything is loaded. */
  references(entry: WorldEntry): readonly Reference[];
  /** The names under `migrations` in the entry. The world's calendar must have them (D-82). */
  migrationNames?(entry: WorldEntry): readonly string[];
  readonly secrets?: EntrySecrets;
  /** Returns false if the identity is taken. Called in one transaction for the whole file. */
  insert(tx: Transaction, entry: WorldEntry, world: World): Promise<boolean>;
  find(reader: Reader, id: string, world: World): Promise<WorldEntry | undefined>;
  list(reader: Reader, page: PageRequest, world: World): Promise<ListPage<WorldEntry>>;
  /** Replaces the whole stored entry. */
  replace(tx: Transaction, entry: WorldEntry, world: World): Promise<void>;
  /** Removes the entry and everything that belongs to it. Returns false if there is none. */
  remove(tx: Transaction, id: string, world: World): Promise<boolean>;
}

/** How many records of each kind were deleted or emptied, e.g. `{"live comments": 2}`. */
export type Erased = Readonly<Record<string, number>>;

export interface Feature {
  readonly name: string;
  readonly migrations: readonly Migration[];
  /** Every policy that the feature defines, for its own contracts and those of others (D-16). */
  readonly policies?: readonly Policy[];
  /** Scopes that it needs besides those of its policies. */
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
  /** Background work. */
  readonly jobs?: readonly JobKind<World>[];
  /** Options of an operator for this feature. */
  readonly settings?: readonly Setting[];
  /** The ports of other features that this one needs. */
  readonly needs?: readonly PortName[];
  /** The ports that this feature provides. All worlds share them, so they keep no state of a world. */
  ports?(ports: PortRegistry): Partial<Ports>;
  /** Removes everything that the feature stores below a page, app or account that the control API removes. */
  onOwnerDeleted?(tx: Transaction, owner: NodeId, world: World): Promise<void>;
  /** Erases the data of a person with these ids, in transactions of its own. It may run again (D-172). */
  erasePerson?(world: World, ids: readonly string[]): Promise<Erased>;
}

export const defineFeature = (feature: Feature): Feature => feature;

/** Lets a feature give its node type the type of its rows, which nothing outside the feature knows. */
export const nodeType = <R extends import("#storage/sql").Row>(type: NodeType<R>): NodeType => type as unknown as NodeType;

/** An operator's option for one feature, as a flag, an environment variable or a key of the config file. */
export interface Setting {
  /** Unique in the server, with the unit last, e.g. `labels_per_page_max`. */
  readonly name: string;
  /** The value in `--help`, e.g. `N`. */
  readonly value: string;
  /** The value is a safe integer, at least this one. */
  readonly minimum: number;
  readonly default: number;
  /** For `--help` and the configuration page. */
  readonly summary: string;
}

export const defineSetting = (setting: Setting): Setting => setting;

/** The operator's value for the world, or the default. */
export const readSetting = ({ settings }: Pick<World, "settings">, { name, default: otherwise }: Setting): number => settings[name] ?? otherwise;
