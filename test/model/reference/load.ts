/** Loads the model's world from a world file. */

import type { Rule } from "../rules/rules.ts";
import type * as nodes from "./nodes.ts";
import { calendarOf } from "./versions.ts";
import type { Profile, VersionsEntry, World } from "./world.ts";

type Loose<Node, Required extends keyof Node> = Partial<Node> & Pick<Node, Required>;

/** The type of a world file, as far as histories use it. */
export interface WorldFile {
  readonly profile: Profile;
  readonly versions?: VersionsEntry;
  readonly clock: { readonly now: number; readonly frozen: true };
  readonly apps: readonly (Loose<Omit<nodes.App, "migrations">, "id" | "name" | "secret" | "created_time"> & {
    readonly subscriptions?: readonly { readonly object: string; readonly fields: readonly string[]; readonly callback: { readonly url: string } }[];
  })[];
  readonly users: readonly { readonly id: string; readonly name: string }[];
  readonly businesses: readonly { readonly id: string; readonly name: string; readonly people: readonly { readonly user: string }[] }[];
  readonly pages: readonly (Omit<nodes.Page, "subscribed_apps"> & {
    readonly subscribed_apps: readonly { readonly app: string; readonly subscribed_fields: readonly string[] }[];
  })[];
  readonly labels: readonly { readonly id: string; readonly page: string; readonly name: string; readonly users?: readonly string[] }[];
  readonly personas: readonly nodes.Persona[];
  readonly required_actions: readonly Omit<nodes.RequiredAction, "written">[];
  readonly places: readonly { readonly id: string }[];
  readonly live_videos: readonly LiveEntry[];
  readonly social_accounts: readonly Loose<nodes.SocialAccount, "id" | "username">[];
  readonly media: readonly Loose<nodes.Media, "id" | "owner" | "timestamp">[];
  readonly microblog_users: readonly nodes.MicroblogUser[];
  readonly microblog_media: readonly { readonly id: string; readonly owner: string }[];
  readonly activity: readonly nodes.Activity[];
  readonly followers: readonly Loose<nodes.Followers, "microblog_user" | "count" | "time">[];
  readonly catalogs: readonly Loose<nodes.Catalog, "id" | "page" | "name">[];
  readonly product_feeds: readonly Omit<nodes.Feed, "items" | "uploads" | "fetches">[];
  readonly ads: readonly (Omit<nodes.Ad, "tracked_apps"> & { readonly tracked_apps?: readonly string[] })[];
  readonly chatapp_accounts: readonly (Omit<nodes.ChatappAccount, "subscribed_apps"> & {
    readonly subscribed_apps: readonly { readonly app: string }[];
  })[];
  readonly phone_numbers: readonly Omit<nodes.PhoneNumber, "overrides">[];
  readonly solutions: readonly { readonly id: string; readonly owner_app: string }[];
  readonly migration_intents: readonly nodes.MigrationIntent[];
  readonly tokens: readonly TokenEntry[];
}

type LiveEntry = Pick<nodes.LiveVideo, "id" | "page" | "title" | "stream_key" | "planned_start_time"> & {
  readonly status: "UNPUBLISHED" | "LIVE" | "VOD" | "SCHEDULED_LIVE";
  readonly place?: string;
  readonly crossposted_pages?: readonly string[];
};

export type TokenEntry = Loose<Omit<nodes.Token, "value" | "revoked" | "copyOf">, "type" | "app" | "scopes" | "issued_at"> & {
  readonly token: string;
};

const byId = <Node extends { readonly id: string }>(all: readonly Node[]): Map<string, Node> => new Map(all.map((node) => [node.id, node]));

const tokenOf = ({ token, expires_at = 0, data_access_expires_at = 0, ...rest }: TokenEntry): nodes.Token => ({
  ...rest,
  value: token,
  expires_at,
  data_access_expires_at,
  revoked: false,
});

const appOf = ({ subscriptions: _, ...app }: WorldFile["apps"][number]): nodes.App => ({
  ...{ mode: "live", access_level: "standard", messaging_access: false, auto_upgrade: true, roles: [] },
  ...app,
  marketing_first_used_time: app.marketing_first_used_time,
  migrations: {},
});

const pageOf = ({ subscribed_apps, ...page }: WorldFile["pages"][number]): nodes.Page => ({
  ...page,
  subscribed_apps: new Map(subscribed_apps.map(({ app, subscribed_fields }) => [app, subscribed_fields])),
});

const subscriptionsOf = ({ subscriptions = [] }: WorldFile["apps"][number]) =>
  new Map(subscriptions.map(({ object, fields, callback }) => [object, { callback: callback.url, fields: new Set(fields) }]));

/** D-51: a live video of the file. A video that a world file declares LIVE has no feed, and therefore no timer. */
function liveVideoOf({ status, place, crossposted_pages = [], ...entry }: LiveEntry, now: number): nodes.LiveVideo {
  return {
    ...entry,
    ...{ state: status.toLowerCase() as nodes.LiveState, embeddable: false, countries: [], excluded_countries: [], creation_time: now },
    ...{ hasFeed: false, deadline: entry.planned_start_time, sealingFails: false, sealingTries: 0, crossposted: crossposted_pages },
    ...{ comments: [], reactions: new Map() },
    ...(place === undefined ? {} : { place: { id: place } }),
    ...(status === "LIVE" ? { broadcast_start_time: now } : {}),
  };
}

const NO_MEDIA = { media_type: "IMAGE", media_product_type: "FEED", private: false, tagged: [], like_count: 0, comments_count: 0, children: [] };
const NO_DEMOGRAPHY = { country: "", city: "", age: "", gender: "" };

export function loadWorld(name: string, file: WorldFile, reach: (rule: Rule) => void): World {
  return {
    ...{ name, profile: file.profile, now: file.clock.now, movedFrom: file.clock.now, reach, calendar: calendarOf(file.versions ?? {}) },
    apps: byId(file.apps.map(appOf)),
    users: byId(file.users),
    businesses: byId(file.businesses),
    pages: byId(file.pages.map(pageOf)),
    labels: byId(file.labels.map(({ users = [], ...label }) => ({ ...label, users: new Set(users) }))),
    personas: byId(file.personas),
    required_actions: byId(file.required_actions.map((action) => ({ ...action, written: file.clock.now }))),
    places: new Set(file.places.map(({ id }) => id)),
    live_videos: byId(file.live_videos.map((entry) => liveVideoOf(entry, file.clock.now))),
    social_accounts: byId(file.social_accounts.map((account) => ({ professional: true, app_connections: [], ...account }))),
    media: byId(file.media.map((one) => ({ ...NO_MEDIA, ...one }))),
    microblog_users: byId(file.microblog_users),
    microblog_media: byId(file.microblog_media),
    activity: [...file.activity],
    followers: file.followers.map((some) => ({ ...NO_DEMOGRAPHY, ...some })),
    catalogs: byId(file.catalogs.map((catalog) => ({ agencies: [], ...catalog }))),
    product_feeds: byId(file.product_feeds.map((feed) => ({ ...feed, items: new Map(), uploads: [], fetches: new Map() }))),
    ads: byId(file.ads.map((ad) => ({ tracked_apps: [], ...ad }))),
    chatapp_accounts: byId(
      file.chatapp_accounts.map(({ subscribed_apps, ...rest }) => ({
        ...rest,
        subscribed_apps: new Map(subscribed_apps.map(({ app }) => [app, undefined])),
      })),
    ),
    phone_numbers: byId(file.phone_numbers.map((number) => ({ ...number, overrides: new Map() }))),
    solutions: byId(file.solutions),
    migration_intents: byId(file.migration_intents.map((intent) => ({ ...intent }))),
    tokens: new Map(file.tokens.map((entry) => [entry.token, tokenOf(entry)])),
    subscriptions: new Map(file.apps.map((app) => [app.id, subscriptionsOf(app)])),
    ...{
      uploads: new Map(),
      reading: undefined,
      touches: [],
      app_events: new Map(),
      cursors: new Map(),
      updates: [],
      idsSeen: new Set(),
      lastMinted: 0n,
    },
  };
}
