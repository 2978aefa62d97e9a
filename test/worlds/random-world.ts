/**
 * Makes random world files with nodes of every type. The references in these files lead to random nodes of the file that they are allowed to name.
 */
import fc, { type GeneratorValue } from "fast-check";

type Entry = Readonly<Record<string, unknown>> & { readonly id: string };

export const NOW = 1_795_000_000;
const DAY = 86_400;
const TASKS = ["MANAGE", "CREATE_CONTENT", "MODERATE", "MESSAGING", "ADVERTISE", "ANALYZE"];
/** The ids of the tasks that let a person manage a catalog, and advertise with it. */
const CATALOG_TASKS = ["240588526848665", "2015469438531460"];
const SCOPES_MAX = 40;
const ID_MAX = 2n ** 63n - 1n;
const ACTION_ID_MAX = 2n ** 53n - 1n;
const OF_EACH_MAX = 3;

// Any text that a database accepts. One visible character of the text may be several characters of UTF-16.
const texts = () => fc.string({ unit: "grapheme", minLength: 1, maxLength: 4 }).filter((value) => value.trim() !== "" && !value.includes("\0"));

function drawsOf(draw: GeneratorValue) {
  const taken = new Set<string>();
  const id = (max = ID_MAX): string => {
    for (;;) {
      const drawn = String(draw(fc.bigInt, { min: 10_000n, max }));
      if (!taken.has(drawn)) {
        taken.add(drawn);
        return drawn;
      }
    }
  };
  let count = 0;
  const some = <T>(make: (at: number) => T, max = OF_EACH_MAX): T[] => Array.from({ length: draw(fc.integer, { min: 1, max }) }, (_, at) => make(at));
  const text = (): string => draw(texts);
  /** A name that no other node of the world has. */
  const name = (): string => `${text()} ${++count}`;
  const yes = (): boolean => draw(fc.boolean);
  const maybe = <T>(make: () => T): T | undefined => (yes() ? make() : undefined);
  const one = <T>(list: readonly T[]): T => list[draw(fc.nat, { max: list.length - 1 })] as T;
  const any = <T>(list: readonly T[], max = list.length): T[] => [
    ...draw(fc.subarray as typeof fc.subarray<T>, [...list], { maxLength: Math.min(max, list.length) }),
  ];
  const idOf = (list: readonly Entry[]): string => one(list).id;
  const idsOf = (list: readonly Entry[]): string[] => any(list.map((entry) => entry.id));
  const past = (): number => draw(fc.integer, { min: NOW - 300 * DAY, max: NOW });
  const future = (): number => draw(fc.integer, { min: NOW + DAY, max: NOW + 7 * DAY });
  const url = (): string => `https://receiver.example/${++count}`;
  const callback = () => ({ url: url(), verify_token: text(), verified: yes() });
  const number = (min: number, max: number): number => draw(fc.integer, { min, max });
  return { id, some, text, name, yes, maybe, one, any, idOf, idsOf, past, future, url, callback, number };
}

type Draws = ReturnType<typeof drawsOf>;

function platform({ id, some, text, name, yes, maybe, one, any, idOf, idsOf, past, callback, number }: Draws) {
  const users = some(() => ({ id: id(), name: text() }));
  const businesses = some(() => ({ id: id(), name: text(), people: idsOf(users).map((user) => ({ user })) }));
  const microblog_users = some(() => ({ id: id(), username: text(), user: maybe(() => idOf(users)) }));
  const apps = some((at) => ({
    ...{ id: id(), name: text(), secret: `${name()} secret`, mode: one(["live", "development"]), created_time: past() },
    marketing_first_used_time: maybe(past),
    // The tokens of the first app have all permissions, because its requests should succeed.
    ...{ auto_upgrade: yes(), require_appsecret_proof: at > 0 && yes(), allow_tokenless_events: yes(), automatic_event_logging: yes() },
    ...{ access_level: one(["standard", "advanced"]), messaging_access: yes(), event_name_limit: number(0, 2_000) },
    event_schemas: maybe(() => ({ buy: { type: "object", required: ["item"], properties: { item: { type: "string", pattern: "^[a-z]+$" } } } })),
    callback: maybe(callback),
    subscriptions: any([
      { object: "page", fields: any(["live_videos", "custom_labels"]), callback: maybe(callback) },
      { object: "social", fields: any(["messages", "comments"]) },
      { object: "chatapp_business_account", fields: any(["messages", "calls"]), callback: maybe(callback) },
    ]),
    roles: [
      ...idsOf(users).map((user) => ({ user, role: one(["administrator", "developer", "tester", "analyst"]) })),
      ...idsOf(microblog_users).map((microblog_user) => ({ microblog_user, role: "microblog_tester" })),
    ],
  }));
  const location = () => ({ latitude: number(-90, 90), longitude: number(-180, 180) });
  const places = some(() => ({ id: id(), name: text(), location: maybe(location) }));
  const pages = some(() => ({
    ...{ id: id(), name: text(), people: some(() => ({ psid: id(), name: text() })) },
    roles: idsOf(users).map((user) => ({ user, tasks: any(TASKS), via_business: yes() })),
    subscribed_apps: idsOf(apps).map((app) => ({ app, subscribed_fields: any(["live_videos", "custom_labels"]) })),
  }));
  return { users, businesses, microblog_users, apps, places, pages };
}

type Platform = ReturnType<typeof platform>;

function messaging({ id, some, text, name, maybe, one, any, idOf, future, url }: Draws, { apps, pages }: Platform) {
  const labels = some(() => {
    const page = one(pages);
    return { id: id(), page: page.id, name: name(), users: any(page.people.map(({ psid }) => psid)) };
  });
  const personas = some(() => ({ id: id(), page: idOf(pages), name: name(), profile_picture_url: `${url()}.png` }));
  const required_actions = some(() => ({
    ...{ id: id(ACTION_ID_MAX), app: idOf(apps), title: text(), description: maybe(text), due_date: maybe(future) },
    status: one(["completed", "in_progress", "in_review"]),
  }));
  return { labels, personas, required_actions };
}

function live({ id, some, text, yes, maybe, one, idOf, idsOf, past, future, number }: Draws, { pages, places, users }: Platform) {
  const state = () =>
    one<Record<string, unknown>>([
      { status: "UNPUBLISHED", stream_key: maybe(() => `key-of-an-encoder-${number(1, 999_999_999)}`) },
      { status: "LIVE", broadcast_start_time: past() },
      { status: "LIVE_STOPPED", broadcast_start_time: past() },
      { status: "PROCESSING" },
      { status: "VOD", end_reason: maybe(() => one(["NO_AUDIO", "NO_FEED"])) },
      { status: "VOD", condition: "taken_down", deadline: future(), takedown_reason: one(["COPYRIGHT", "INTELLECTUAL_PROPERTY"]) },
      { status: "VOD", condition: "lapsed" },
      { status: one(["SCHEDULED_LIVE", "SCHEDULED_UNPUBLISHED"]), planned_start_time: future() },
      { status: one(["SCHEDULED_EXPIRED", "SCHEDULED_CANCELED"]) },
    ]);
  const live_videos = some(() => {
    const page = idOf(pages);
    return {
      ...{ id: id(), page, title: maybe(text), description: maybe(text), embeddable: yes(), creation_time: past(), sealing_fails: yes() },
      ...{ place: maybe(() => idOf(places)), targeting: maybe(() => ({ geo_locations: { countries: ["DE", one(["FR", "US"])] } })) },
      crossposted_pages: idsOf(pages).filter((other) => other !== page),
      ...state(),
    };
  });
  const live_comments = some(() => ({
    id: id(),
    live_video: idOf(live_videos),
    from: idOf([...users, ...pages]),
    message: text(),
    created_time: past(),
  }));
  const live_reactions = live_videos.map((video) => ({
    live_video: video.id,
    from: idOf([...users, ...pages]),
    type: one(["LIKE", "LOVE"]),
    time: past(),
  }));
  return { live_videos, live_comments, live_reactions };
}

function social({ id, some, text, yes, maybe, one, idOf, idsOf, past, url, number }: Draws, { apps, pages, users, microblog_users }: Platform) {
  const social_accounts = some(() => ({
    ...{ id: id(), username: text(), social_scoped_id: id(), page: maybe(() => idOf(pages)), user: maybe(() => idOf(users)), professional: yes() },
    app_connections: idsOf(apps),
  }));
  const media = some(() => {
    const owner = idOf(social_accounts);
    return {
      ...{ id: id(), owner, media_type: one(["IMAGE", "VIDEO"]), media_product_type: one(["FEED", "REELS", "STORY", "AD"]), private: yes() },
      ...{ caption: maybe(text), media_url: maybe(url), permalink: maybe(url), thumbnail_url: maybe(url), shortcode: maybe(text), timestamp: past() },
      ...{
        like_count: number(0, 1_000_000),
        comments_count: number(0, 1_000_000),
        tagged: idsOf(social_accounts).filter((account) => account !== owner),
      },
    };
  });
  const album = one(media);
  const albums = [{ id: id(), owner: album.owner, media_type: "CAROUSEL_ALBUM", timestamp: past(), children: [album.id] }];
  const microblog_media = some(() => ({ id: id(), owner: idOf(microblog_users), text: text(), timestamp: past() }));
  const value = () => number(0, 1_000);
  const activity = [
    ...some(() => ({
      target: idOf(microblog_media),
      metric: one(["views", "likes", "replies", "reposts", "quotes", "shares"]),
      time: past(),
      value: value(),
    })),
    ...some(() => ({ target: idOf(microblog_users), metric: "clicks", link_url: url(), time: past(), value: value() })),
  ];
  const followers = some(() => ({
    ...{ microblog_user: idOf(microblog_users), country: one(["DE", "FR"]), city: text(), age: "25-34", gender: one(["F", "M"]) },
    ...{ count: value(), time: past() },
  }));
  return { social_accounts, media: [...media, ...albums], microblog_media, activity, followers };
}

function commerce({ id, some, text, name, maybe, one, idOf, idsOf, url, number }: Draws, { pages, businesses, apps }: Platform) {
  const catalogs = some(() => ({
    ...{
      id: id(),
      page: idOf(pages),
      name: text(),
      vertical: "commerce",
      business: maybe(() => idOf(businesses)),
      external_business_id: maybe(text),
    },
    agencies: idsOf(businesses).map((business) => ({ business, permitted_tasks: [one(CATALOG_TASKS)] })),
  }));
  const items = () =>
    some((at) => ({
      ...{ id: id(), retailer_id: `item ${at}`, name: name(), image_url: `${url()}.jpg`, url: url(), description: maybe(text), brand: maybe(text) },
    }));
  const product_feeds = some(() => ({
    ...{ id: id(), catalog: idOf(catalogs), name: text(), items: items() },
    schedule: maybe(() => ({ interval: "DAILY", url: `${url()}.csv`, hour: number(0, 23), timezone: one(["UTC", "Europe/Berlin"]) })),
  }));
  const ads = some(() => ({
    ...{ id: id(), app: idOf(apps), campaign_id: maybe(() => id()), objective: one(["APP_INSTALLS", "LINK_CLICKS"]) },
    tracked_apps: idsOf(apps),
  }));
  return { catalogs, product_feeds, ads };
}

function chat({ id, some, text, maybe, one, any, idOf, idsOf, url, number }: Draws, { apps, businesses }: Platform) {
  const overridden = (list: readonly string[]) => list.map((app) => ({ app, override_callback_uri: url() }));
  const chatapp_accounts = some(() => ({
    ...{ id: id(), name: text(), business: maybe(() => idOf(businesses)) },
    subscribed_apps: idsOf(apps).map((app) => ({ app, override_callback_uri: maybe(url) })),
  }));
  const phone_numbers = some(() => {
    const account = one(chatapp_accounts);
    const overrides = overridden(any(account.subscribed_apps.map(({ app }) => app)));
    return { id: id(), account: account.id, display_phone_number: `+49 30 ${number(1, 999_999)}`, verified_name: text(), overrides };
  });
  const solutions = some(() => ({ id: id(), name: text(), owner_app: idOf(apps) }));
  const migration_intents = some(() => ({
    ...{ id: id(), waba: idOf(chatapp_accounts), destination_waba: maybe(() => idOf(chatapp_accounts)), solution: maybe(() => idOf(solutions)) },
    status: one(["INITIATED", "ACCEPTED", "COMPLETED", "REJECTED"]),
  }));
  return { chatapp_accounts, phone_numbers, solutions, migration_intents };
}

function tokensOf(
  { yes, one, any, idOf, past, future }: Draws,
  { apps, pages, users, microblog_users }: Platform,
  accounts: readonly Entry[],
  scopes: readonly string[],
) {
  const app = (apps[0] as Entry).id;
  const page = one(pages);
  const kinds = [
    { type: "app" },
    { type: "user", user: idOf(users) },
    { type: "system_user", user: idOf(users) },
    { type: "page", page: page.id, user: page.roles[0]?.user ?? idOf(users) },
    { type: "social_user", social_account: idOf(accounts) },
    { type: "microblog_user", microblog_user: idOf(microblog_users) },
  ];
  const tokens = kinds.map((kind) => ({
    ...{ token: `token-of-${kind.type}`, ...kind, app, scopes: yes() ? [...scopes] : any(scopes, SCOPES_MAX) },
    ...{ issued_at: past(), expires_at: yes() ? 0 : future(), data_access_expires_at: yes() ? 0 : future() },
  }));
  return tokens;
}

/** `scopes` are the permissions from which the permissions of tokens are drawn. */
export function randomWorld(draw: GeneratorValue, scopes: readonly string[]) {
  const draws = drawsOf(draw);
  const base = platform(draws);
  const accounts = social(draws, base);
  return {
    clock: { now: NOW, frozen: true },
    profile: draws.one(["strict", "clients"]),
    ...{ ...base, ...accounts, ...messaging(draws, base), ...live(draws, base), ...commerce(draws, base), ...chat(draws, base) },
    tokens: tokensOf(draws, base, accounts.social_accounts, scopes),
  };
}
