/** The world in which every history begins: valid and invalid tokens of callers of every kind, and a few nodes of each type. */
import { ROUTED, UNROUTED } from "../reference/areas/chatapp.ts";
import type { TokenEntry, WorldFile } from "../reference/load.ts";
import type { Profile, VersionsEntry } from "../reference/world.ts";

export const NOW = 1_795_000_000;

/** The properties of a history's world that differ from the usual ones. */
export interface WorldPlan {
  readonly profile: Profile;
  /** The time at which the world's clock starts, in Unix seconds. */
  readonly begins?: number | undefined;
  readonly versions?: VersionsEntry | undefined;
}

const SCOPES = [
  ...["pages_messaging", "pages_manage_posts", "pages_read_engagement", "pages_manage_metadata", "social_basic", "social_manage_comments"],
  ...["social_business_basic", "social_business_manage_messages", "social_business_manage_comments", "catalog_management"],
  ...["chatapp_business_management", "microblog_basic", "microblog_manage_insights", "ads_read"],
];

const shop = { app: "1001", scopes: SCOPES, issued_at: 1_767_225_600 };
const cafe = { ...shop, type: "page", page: "2001", user: "3001" } as const;

/** The tokens of the world. The name of an invalid token says why the token is invalid. */
const tokensAt = (now: number): readonly TokenEntry[] => [
  { ...cafe, token: "cafe-page" },
  { ...shop, type: "page", page: "2001", token: "cafe-page-without-person" },
  { ...cafe, token: "cafe-page-without-scopes", scopes: [] },
  { ...cafe, token: "cafe-page-expired", expires_at: 1_790_000_000 },
  { ...cafe, token: "cafe-page-expires-soon", expires_at: now + 3600 },
  { ...cafe, token: "cafe-page-data-over", data_access_expires_at: 1_790_000_000 },
  { ...cafe, token: "cafe-page-data-ends-soon", data_access_expires_at: now + 7200 },
  { ...cafe, token: "cafe-page-of-other-app", app: "1002" },
  { ...cafe, token: "cafe-page-of-new-app", app: "1003" },
  { ...shop, token: "bar-page", type: "page", page: "2002", user: "3001" },
  { ...shop, token: "ada-user", type: "user", user: "3001" },
  { ...shop, token: "ada-user-without-scopes", type: "user", user: "3001", scopes: [] },
  { ...shop, token: "ben-user-without-messaging", type: "user", user: "3002" },
  { ...shop, token: "cleo-user-without-role", type: "user", user: "3003" },
  { ...shop, token: "ada-system-user", type: "system_user", user: "3001" },
  { ...shop, token: "biz-user", type: "user", user: "3004" },
  { ...shop, token: "biz-user-without-ads", type: "user", user: "3004", scopes: SCOPES.filter((scope) => scope !== "ads_read") },
  { ...shop, token: "shop-app", type: "app", scopes: [] },
  { ...shop, token: "shop-app-expired", type: "app", scopes: [], expires_at: 1_790_000_000 },
  { ...shop, token: "other-app", type: "app", app: "1002", scopes: [] },
  { ...shop, token: "other-ada-user", type: "user", app: "1002", user: "3001" },
  { ...shop, token: "new-ada-user", type: "user", app: "1003", user: "3001" },
  { ...shop, token: "old-ada-user", type: "user", app: "1004", user: "3001" },
  { ...shop, token: "stubborn-ada-user", type: "user", app: "1005", user: "3001" },
  { ...cafe, token: "cafe-page-of-proving-app", app: "1006" },
  { ...shop, token: "proving-ada-user", type: "user", app: "1006", user: "3001" },
  { ...shop, token: "cafe-social", type: "social_user", social_account: "6001" },
  { ...shop, token: "fan-social", type: "social_user", social_account: "6002" },
  { ...shop, token: "lone-social", type: "social_user", social_account: "6005" },
  { ...shop, token: "talk", type: "microblog_user", microblog_user: "7001" },
  { ...shop, token: "talk-without-scopes", type: "microblog_user", microblog_user: "7001", scopes: ["microblog_basic"] },
  { ...shop, token: "talk-data-over", type: "microblog_user", microblog_user: "7001", data_access_expires_at: 1_790_000_000 },
  { ...shop, token: "outsider", type: "microblog_user", microblog_user: "7002" },
];

export const CALLERS: readonly string[] = [...tokensAt(NOW).map(({ token }) => token), "1001|s3cret", "nonsense"];

const appsWith = (callback: (app: string) => string): WorldFile["apps"] => [
  {
    ...{ id: "1001", name: "Shop", secret: "s3cret", created_time: 1_767_225_600 },
    ...{ marketing_first_used_time: 1_767_225_600, event_name_limit: 6 },
    roles: [
      { user: "3001", role: "administrator" },
      { user: "3002", role: "tester" },
      { microblog_user: "7001", role: "microblog_tester" },
    ],
    messaging_access: true,
    subscriptions: [
      { object: "page", fields: ["custom_labels", "live_videos"], callback: { url: callback("1001") } },
      { object: "social", fields: ["messages", "comments"], callback: { url: callback("1001") } },
      { object: "chatapp_business_account", fields: [...ROUTED, ...UNROUTED], callback: { url: callback("1001") } },
    ],
  },
  {
    ...{ id: "1002", name: "Other", secret: "0ther", created_time: 1_718_409_600, automatic_event_logging: true },
    subscriptions: [
      { object: "page", fields: ["custom_labels"], callback: { url: callback("1002") } },
      { object: "chatapp_business_account", fields: ["messages", "account_alerts"], callback: { url: callback("1002") } },
    ],
  },
  { id: "1003", name: "New", secret: "n3w", created_time: 1_793_000_000, mode: "development" },
  { id: "1004", name: "Old", secret: "0ld", created_time: 1_718_409_600, marketing_first_used_time: 1_720_000_000 },
  { id: "1005", name: "Stubborn", secret: "stubb0rn", created_time: 1_718_409_600, marketing_first_used_time: 1_720_000_000, auto_upgrade: false },
  { id: "1006", name: "Proving", secret: "pr00f", created_time: 1_767_225_600, require_appsecret_proof: true },
];

const people = {
  users: [
    { id: "3001", name: "Ada" },
    { id: "3002", name: "Ben" },
    { id: "3003", name: "Cleo" },
    { id: "3004", name: "Dora" },
  ],
  businesses: [
    { id: "3501", name: "Agency", people: [{ user: "3001" }] },
    { id: "3502", name: "Others", people: [{ user: "3003" }] },
  ],
} satisfies Partial<WorldFile>;

const pageMessaging = {
  pages: [
    {
      ...{ id: "2001", name: "Cafe" },
      people: [
        { psid: "9001", name: "Guest" },
        { psid: "9002", name: "Gil" },
      ],
      roles: [
        { user: "3001", tasks: ["MANAGE", "CREATE_CONTENT", "MODERATE", "MESSAGING"] },
        { user: "3002", tasks: ["CREATE_CONTENT"] },
        { user: "3004", tasks: ["MANAGE", "MODERATE"], via_business: true },
      ],
      subscribed_apps: [
        { app: "1001", subscribed_fields: ["custom_labels", "live_videos"] },
        { app: "1002", subscribed_fields: ["custom_labels", "live_videos"] },
      ],
    },
    {
      ...{ id: "2002", name: "Bär 🐻" },
      people: [{ psid: "9011", name: "Hal" }],
      roles: [{ user: "3001", tasks: ["MESSAGING"] }],
      subscribed_apps: [{ app: "1001", subscribed_fields: ["custom_labels", "live_videos"] }],
    },
  ],
  labels: [
    { id: "5001", page: "2001", name: "vip", users: ["9001"] },
    { id: "5002", page: "2001", name: "regular" },
    { id: "5003", page: "2002", name: "late", users: ["9011"] },
  ],
  personas: [
    { id: "5101", page: "2001", name: "Bo", profile_picture_url: "https://example.com/bo.png" },
    { id: "5102", page: "2002", name: "Mia", profile_picture_url: "https://example.com/mia.png" },
  ],
} satisfies Partial<WorldFile>;

const actionsAt = (now: number) =>
  ({
    required_actions: [
      { id: "5201", app: "1001", title: "Complete the checkup", status: "in_progress", due_date: now + 5_000 },
      { id: "5202", app: "1001", title: "Add a policy", description: "The link must be public.", status: "completed", due_date: now + 100 },
      { id: "5203", app: "1001", title: "Reply", status: "in_review", due_date: now + 90_000 },
      { id: "5204", app: "1001", title: "Was due", status: "in_progress", due_date: now - 1_000 },
      { id: "5205", app: "1001", title: "No date", status: "in_progress" },
      { id: "5206", app: "1002", title: "Of another app", status: "in_progress" },
    ],
  }) satisfies Partial<WorldFile>;

const liveAt = (now: number) =>
  ({
    places: [{ id: "9901" }],
    live_videos: [
      { id: "5301", page: "2001", title: "Rehearsal", status: "UNPUBLISHED", stream_key: "the-stream-key-of-5301" },
      { id: "5302", page: "2001", status: "LIVE", place: "9901" },
      { id: "5303", page: "2002", title: "Recorded", status: "VOD" },
      { id: "5304", page: "2001", title: "Planned", status: "SCHEDULED_LIVE", planned_start_time: now + 400, stream_key: "the-stream-key-of-5304" },
      { id: "5305", page: "2002", title: "Shared", status: "LIVE", crossposted_pages: ["2001"], stream_key: "the-stream-key-of-5305" },
    ],
  }) satisfies Partial<WorldFile>;

const socialAt = (now: number) =>
  ({
    social_accounts: [
      { id: "6001", username: "cafe", social_scoped_id: "6901", page: "2001", user: "3001", app_connections: ["1001"] },
      { id: "6002", username: "fan", social_scoped_id: "6902", user: "3003" },
      { id: "6004", username: "without_token", social_scoped_id: "6904", user: "3001", app_connections: ["1001"] },
      { id: "6005", username: "lone", social_scoped_id: "6905", user: "3001", app_connections: ["1001"] },
      { id: "6003", username: "private_person", page: "2001", professional: false },
    ],
    media: [
      { id: "6101", owner: "6001", timestamp: now - 9_000, caption: "Own", tagged: ["6001"] },
      { id: "6102", owner: "6002", timestamp: now - 8_000, caption: "Lunch 🥗", tagged: ["6001"], like_count: 3, comments_count: 1 },
      { id: "6103", owner: "6002", timestamp: now - 7_000, private: true, tagged: ["6001"] },
      { id: "6104", owner: "6002", timestamp: now - 6_000, media_type: "VIDEO", media_product_type: "REELS", tagged: ["6001"] },
      { id: "6105", owner: "6002", timestamp: now - 5_000, caption: "Untagged" },
      { id: "6107", owner: "6005", timestamp: now - 3_000, caption: "Alone" },
      { id: "6106", owner: "6002", timestamp: now - 4_000, media_type: "CAROUSEL_ALBUM", tagged: ["6001"], children: ["6105", "6103"] },
    ],
  }) satisfies Partial<WorldFile>;

const microblogAt = (now: number) =>
  ({
    microblog_users: [
      { id: "7001", username: "cafe_talk", user: "3001" },
      { id: "7002", username: "outsider", user: "3002" },
    ],
    microblog_media: [
      { id: "7101", owner: "7001" },
      { id: "7102", owner: "7002" },
    ],
    activity: [
      { target: "7101", metric: "views", value: 12, time: now - 100_000 },
      { target: "7001", metric: "views", value: 5, time: now - 50_000 },
      { target: "7001", metric: "views", value: 7, time: now - 200_000 },
      { target: "7001", metric: "clicks", value: 2, time: now - 1_000, link_url: "https://example.com/a" },
    ],
    followers: [
      { microblog_user: "7001", country: "DE", city: "Berlin", age: "25-34", gender: "F", count: 60, time: now - 100_000 },
      { microblog_user: "7001", country: "FR", age: "25-34", gender: "M", count: 30, time: now - 1_000 },
    ],
  }) satisfies Partial<WorldFile>;

const catalogs = {
  catalogs: [
    { id: "8001", page: "2001", name: "Books", business: "3501" },
    { id: "8002", page: "2002", name: "Drinks" },
  ],
  product_feeds: [{ id: "8101", catalog: "8001", name: "Book feed" }],
} satisfies Partial<WorldFile>;

const ads = {
  ads: [
    { id: "8501", app: "1001", campaign_id: "8551", objective: "APP_INSTALLS" },
    { id: "8502", app: "1001", campaign_id: "8552", objective: "LINK_CLICKS", tracked_apps: ["1001", "1002"] },
    { id: "8503", app: "1002", campaign_id: "8551", objective: "APP_ENGAGEMENT" },
  ],
} satisfies Partial<WorldFile>;

const chatapp = {
  chatapp_accounts: [
    { id: "4001", name: "Cafe chat", business: "3501", subscribed_apps: [{ app: "1001" }, { app: "1002" }] },
    { id: "4002", name: "New chat", subscribed_apps: [{ app: "1001" }] },
    { id: "4003", name: "Hidden chat", subscribed_apps: [] },
  ],
  phone_numbers: [
    { id: "4101", account: "4001", display_phone_number: "+49 30 1", verified_name: "Cafe" },
    { id: "4102", account: "4001", display_phone_number: "+49 30 2", verified_name: "Cafe bar" },
  ],
  solutions: [
    { id: "4201", owner_app: "1001" },
    { id: "4202", owner_app: "1002" },
  ],
  migration_intents: [
    { id: "4301", waba: "4001", destination_waba: "4002", solution: "4201", status: "INITIATED" },
    { id: "4302", waba: "4003", solution: "4202", status: "ACCEPTED" },
    { id: "4303", waba: "4002", status: "REJECTED" },
  ],
} satisfies Partial<WorldFile>;

/** The world file of a history. `callback` returns the address for each app, because each app of each world has an address of its own. */
export const worldFile = ({ profile, begins = NOW, versions }: WorldPlan, callback: (app: string) => string): WorldFile => ({
  profile,
  clock: { now: begins, frozen: true },
  ...(versions === undefined ? {} : { versions }),
  apps: appsWith(callback),
  ...{
    ...people,
    ...pageMessaging,
    ...actionsAt(begins),
    ...liveAt(begins),
    ...socialAt(begins),
    ...microblogAt(begins),
    ...catalogs,
    ...ads,
    ...chatapp,
  },
  tokens: tokensAt(begins),
});
