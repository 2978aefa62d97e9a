/** The state of one world, in plain maps and lists. The keys of the maps are the ids of nodes. */

import type { Rule } from "../rules/rules.ts";
import type * as nodes from "./nodes.ts";

export type Profile = "strict" | "clients";

export interface Migration {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

export interface MarketingRelease {
  readonly version: string;
  readonly released: number;
  /** The end of the version; undefined if no end is known. */
  readonly until?: number;
  /** D-81: the operations, edges and endpoint numbers that the version changes. */
  readonly affects: readonly string[];
}

/** The calendar in a world file. */
export interface VersionsEntry {
  readonly marketing?: readonly MarketingRelease[];
  readonly migrations?: readonly Migration[];
}

/** The calendar. The list of versions begins with the oldest version. */
export type Calendar = Required<VersionsEntry>;

/** The update of a webhook that must arrive at a callback. */
export interface ExpectedUpdate {
  readonly app: string;
  readonly callback: string;
  readonly object: string;
  readonly entity: string;
  readonly field: string;
  readonly value: unknown;
  /** The function returns the present route of the update, or undefined if the app would not get the update. */
  readonly route: () => string | undefined;
  /**
   * The time span within which the cause of the webhook happened. The time span is longer than a second if the cause became due while the clock
   * moved.
   */
  readonly times: { readonly from: number; readonly until: number };
}

type ById<Node> = Map<string, Node>;

export interface World {
  readonly name: string;
  readonly profile: Profile;
  now: number;
  /** The time that the clock had before the present move. While the clock does not move, this value is the present time. */
  movedFrom: number;
  readonly calendar: Calendar;
  readonly apps: ById<nodes.App>;
  readonly users: ById<{ readonly id: string; readonly name: string }>;
  readonly businesses: ById<{ readonly id: string; readonly name: string; readonly people: readonly { readonly user: string }[] }>;
  readonly pages: ById<nodes.Page>;
  readonly labels: ById<nodes.Label>;
  readonly personas: ById<nodes.Persona>;
  readonly required_actions: ById<nodes.RequiredAction>;
  readonly live_videos: ById<nodes.LiveVideo>;
  readonly places: ReadonlySet<string>;
  readonly social_accounts: ById<nodes.SocialAccount>;
  readonly media: ById<nodes.Media>;
  readonly microblog_users: ById<nodes.MicroblogUser>;
  readonly microblog_media: ById<{ readonly id: string; readonly owner: string }>;
  readonly activity: nodes.Activity[];
  readonly followers: nodes.Followers[];
  readonly catalogs: ById<nodes.Catalog>;
  readonly product_feeds: ById<nodes.Feed>;
  readonly uploads: ById<nodes.Upload>;
  /** The upload whose file the server is reading at present. */
  reading: nodes.Upload | undefined;
  readonly chatapp_accounts: ById<nodes.ChatappAccount>;
  readonly phone_numbers: ById<nodes.PhoneNumber>;
  readonly solutions: ById<{ readonly id: string; readonly owner_app: string }>;
  readonly migration_intents: ById<nodes.MigrationIntent>;
  readonly tokens: ById<nodes.Token>;
  readonly ads: ById<nodes.Ad>;
  /** The touches of ads in the order in which they were recorded. */
  readonly touches: nodes.Touch[];
  readonly app_events: ById<nodes.AppEvents>;
  /** The webhook subscriptions, by app and object. */
  readonly subscriptions: Map<string, Map<string, nodes.Subscription>>;
  readonly cursors: Map<string, nodes.Position>;
  readonly updates: ExpectedUpdate[];
  /** Every id that the world ever had, because no id is used twice. */
  readonly idsSeen: Set<string>;
  lastMinted: bigint;
  readonly reach: (rule: Rule) => void;
}

/**
 * Expects an update. `route` returns the present callback of the update, or undefined if the app does not get the update. `route` is called again for
 * updates that wait for delivery (D-63, D-138).
 */
export function emit(
  world: World,
  update: Pick<ExpectedUpdate, "app" | "object" | "entity" | "field" | "value">,
  route: () => string | undefined,
): void {
  const callback = route();
  if (callback !== undefined) world.updates.push({ ...update, callback, route, times: { from: world.movedFrom, until: world.now } });
}

/** D-11: when a person loses the role on a page, the page tokens of this person end. */
export function loseRole(world: World, page: string, user: string): void {
  for (const token of world.tokens.values()) {
    if (token.type === "page" && token.page === page && token.user === user) token.revoked = true;
  }
}

/** The types of nodes that a path can name, each with the map of its nodes. */
const MAPS = {
  app: "apps",
  user: "users",
  business: "businesses",
  page: "pages",
  label: "labels",
  persona: "personas",
  live_video: "live_videos",
  social_account: "social_accounts",
  microblog_user: "microblog_users",
  microblog_media: "microblog_media",
  product_catalog: "catalogs",
  product_feed: "product_feeds",
  product_feed_upload: "uploads",
  chatapp_account: "chatapp_accounts",
  phone_number: "phone_numbers",
  migration_intent: "migration_intents",
} as const satisfies Record<string, keyof World>;

export type NodeType = keyof typeof MAPS | "page_person" | "social_scoped_account" | "feed_item" | "nothing";

export function nodeTypeOf(world: World, id: string): NodeType | undefined {
  for (const [type, map] of Object.entries(MAPS)) if (world[map].has(id)) return type as NodeType;
  if (accountOfScoped(world, id) !== undefined) return "social_scoped_account";
  return pageOfPerson(world, id) === undefined ? undefined : "page_person";
}

/** D-143: the ids of feed items, which no path can name. */
export const itemsOf = ({ product_feeds }: World): string[] =>
  [...product_feeds.values()].flatMap(({ items }) => [...items.values()].map(({ id = "" }) => id));

/** All ids of the node types that a path can name, and of world file entries that look like such nodes. */
export function nodesByType(world: World): Map<NodeType, string[]> {
  const byType = new Map<NodeType, string[]>(Object.entries(MAPS).map(([type, map]) => [type as NodeType, [...world[map].keys()]]));
  byType.set(
    "page_person",
    [...world.pages.values()].flatMap(({ people }) => people.map(({ psid }) => psid)),
  );
  byType.set("feed_item", itemsOf(world));
  byType.set(
    "social_scoped_account",
    [...world.social_accounts.values()].flatMap(({ social_scoped_id: id }) => (id === undefined ? [] : [id])),
  );
  return byType;
}

export const pageOfPerson = (world: World, psid: string): nodes.Page | undefined =>
  [...world.pages.values()].find(({ people }) => people.some((person) => person.psid === psid));

export const accountOfScoped = (world: World, id: string): nodes.SocialAccount | undefined =>
  [...world.social_accounts.values()].find(({ social_scoped_id }) => social_scoped_id === id);

/** The page to which a node of page messaging belongs. */
export function pageOf(world: World, id: string): nodes.Page | undefined {
  const owner = world.labels.get(id)?.page ?? world.personas.get(id)?.page;
  return world.pages.get(owner ?? id) ?? pageOfPerson(world, id);
}
