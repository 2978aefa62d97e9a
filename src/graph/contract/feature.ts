/** What a feature gives to the server through its public API (`index.ts`). */
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
  /** Where in the entry it stands, e.g. `users[0]`. */
  readonly path: string;
  readonly types: readonly string[];
  readonly id: string;
  /** The node must also belong to this owner, e.g. a PSID to the label's page. */
  readonly owner?: string;
}

/** An entry of a world file, as validated: ids as strings, defaults filled in by the section. */
export type WorldEntry = Readonly<Record<string, unknown>>;

/** Entries that hold secrets in clear text (D-263). */
export interface EntrySecrets {
  /** The entry as an export writes it unless it is asked for secrets. */
  without(entry: WorldEntry): WorldEntry;
  /** The entry with the stored secrets that it does not name, so that merging an export takes none away. */
  kept(entry: WorldEntry, stored: WorldEntry): WorldEntry;
}

/** One kind of node, as a world file and the control API describe it (operating.md: World file). */
export interface WorldSection {
  /** The key in the world file, e.g. `labels`. */
  readonly key: string;
  /** The schema of one entry; unknown keys are errors. */
  readonly entry: TObject;
  /** Which keys identify an entry: `["id"]` unless said otherwise. None: entries add up and are no nodes (`activity`). */
  readonly identity?: readonly string[];
  /** For ids that are not the world's own kind, e.g. below 2^53: the id of an entry that the control API is given without one. */
  mintId?(tx: Transaction, world: World): Promise<string>;
  /** The ids that must exist, be of their types and belong to their owner once everything is loaded. */
  references(entry: WorldEntry): readonly Reference[];
  /** The names that the entry has under `migrations`: the world's calendar must know them (D-82). */
  migrationNames?(entry: WorldEntry): readonly string[];
  readonly secrets?: EntrySecrets;
  /** Inserts; returns false when the identity is taken. Called inside one transaction for a whole file. */
  insert(tx: Transaction, entry: WorldEntry, world: World): Promise<boolean>;
  find(reader: Reader, id: string, world: World): Promise<WorldEntry | undefined>;
  list(reader: Reader, page: PageRequest, world: World): Promise<ListPage<WorldEntry>>;
  /** Replaces the whole stored entry. */
  replace(tx: Transaction, entry: WorldEntry, world: World): Promise<void>;
  /** Removes the entry and all that belongs to it; returns false when there was none. */
  remove(tx: Transaction, id: string, world: World): Promise<boolean>;
}

/** How many records were deleted or emptied, by what they are, e.g. `{"live comments": 2}`. */
export type Erased = Readonly<Record<string, number>>;

export interface Feature {
  readonly name: string;
  readonly migrations: readonly Migration[];
  /** Every policy that the feature defines, for its own contracts and those of others (D-16). */
  readonly policies?: readonly Policy[];
  /** Scopes that it asks for besides those of its policies. */
  readonly scopes?: readonly string[];
  /** Errors that the feature alone raises. */
  readonly errors?: readonly ErrorDefinition[];
  readonly nodeTypes?: readonly NodeType[];
  readonly operations?: readonly Served[];
  /** Fields that the feature gives to reads of another feature's node type. */
  readonly fieldExtensions?: readonly { readonly on: string; readonly name: string; readonly field: Field }[];
  readonly changes?: readonly VersionChange[];
  readonly worldSections?: readonly WorldSection[];
  /** The webhook fields that apps may subscribe to. */
  readonly webhookFields?: readonly WebhookField[];
  /** Work that is done later, or without a request. */
  readonly jobs?: readonly JobKind<World>[];
  /** What an operator may set for the feature alone. */
  readonly settings?: readonly Setting[];
  /** The ports of other features that this one asks for. */
  readonly needs?: readonly PortName[];
  /** What other features, and the layers below the features, ask of this one by name. All worlds share them, so they keep nothing of one. */
  ports?(ports: PortRegistry): Partial<Ports>;
  /** Removes all that the feature keeps below a page, app or account that is being removed by the control API. */
  onOwnerDeleted?(tx: Transaction, owner: NodeId, world: World): Promise<void>;
  /** Erases what the feature keeps about a person who is known by these ids, in transactions of its own. It may run again (D-172). */
  erasePerson?(world: World, ids: readonly string[]): Promise<Erased>;
}

/** All that a feature brings to the server, in one value. */
export const defineFeature = (feature: Feature): Feature => feature;

/** Lets a feature type the rows of its node type; nothing outside the feature knows them. */
export const nodeType = <R extends import("#storage/sql").Row>(type: NodeType<R>): NodeType => type as unknown as NodeType;

/** What an operator may set for one feature: by flag, environment variable or config file, as the server's own options. */
export interface Setting {
  /** Unique in the server, with the unit last, e.g. `labels_per_page_max`. */
  readonly name: string;
  /** What stands behind the flag, e.g. `N`. */
  readonly value: string;
  /** Any safe integer from here on. */
  readonly minimum: number;
  readonly default: number;
  /** For `--help` and the configuration page. */
  readonly summary: string;
}

export const defineSetting = (setting: Setting): Setting => setting;

/** What the operator set for the world, else the default. */
export const readSetting = ({ settings }: Pick<World, "settings">, { name, default: otherwise }: Setting): number => settings[name] ?? otherwise;
