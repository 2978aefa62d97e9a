/** A world file with every key and every type of node (docs/operating/worlds.md). The file also contains every node that another node refers to. */
import { nodeId } from "#kernel/ids";
import { openPlaza, type PlazaOptions, type TestPlaza } from "./plaza.ts";
import { READ_SCOPES } from "./scopes.ts";

const scopes = READ_SCOPES;

export const fullWorld = {
  apps: [
    {
      id: "1001",
      name: "Shop",
      secret: "s3cret",
      mode: "development",
      created_time: 1767225600,
      marketing_first_used_time: 1770000000,
      roles: [
        { user: "3001", role: "administrator" },
        { microblog_user: "7001", role: "microblog_tester" },
      ],
    },
    { id: "1002", name: "Other", secret: "0ther" },
  ],
  users: [
    { id: "3001", name: "Ada" },
    { id: "3002", name: "Stranger" },
  ],
  businesses: [{ id: "3501", name: "Agency", people: [{ user: "3001" }] }],
  places: [{ id: "9901", name: "Terrace", location: { latitude: 52.5, longitude: 13.4 } }],
  pages: [
    { id: "2001", name: "Cafe", people: [{ psid: "9001" }], roles: [{ user: "3001", tasks: ["MESSAGING", "CREATE_CONTENT", "MANAGE", "MODERATE"] }] },
    { id: "2002", name: "Bar" },
  ],
  labels: [{ id: "5001", page: "2001", name: "vip", users: ["9001"] }],
  personas: [{ id: "5101", page: "2001", name: "Bo", profile_picture_url: "https://example.com/bo.png" }],
  required_actions: [{ id: 5201, app: "1001", title: "Review", due_date: 1795600000, status: "in_progress" }],
  live_videos: [{ id: "5301", page: "2001", title: "Opening", status: "UNPUBLISHED", embeddable: false }],
  social_accounts: [
    { id: "6001", username: "cafe", social_scoped_id: "6901", page: "2001", user: "3001", app_connections: ["1001"] },
    { id: "6002", username: "fan" },
  ],
  media: [{ id: "6101", owner: "6001", media_type: "IMAGE", timestamp: "2026-11-01T10:00:00+0000", tagged: ["6002"] }],
  microblog_users: [{ id: "7001", username: "cafe_talk", user: "3001" }, { id: "7002" }],
  microblog_media: [{ id: "7101", owner: "7001", text: "hello" }],
  activity: [{ target: "7101", metric: "views", time: 1794990000, value: 12 }],
  followers: [{ microblog_user: "7001", country: "DE", count: 60, time: 1794000000 }],
  catalogs: [{ id: "8001", page: "2001", name: "Books", vertical: "commerce" }],
  product_feeds: [
    {
      id: "8101",
      catalog: "8001",
      name: "feed",
      items: [{ retailer_id: "b1", name: "A Book", url: "https://example.com/b1", image_url: "https://example.com/b1.jpg" }],
    },
  ],
  chatapp_accounts: [
    { id: "4001", name: "Cafe chat", business: "3501", subscribed_apps: [{ app: "1001", override_callback_uri: "http://127.0.0.1:9000/waba" }] },
    { id: "4002", name: "New chat" },
  ],
  phone_numbers: [
    {
      id: "4101",
      account: "4001",
      display_phone_number: "+49 30 1",
      overrides: [{ app: "1001", override_callback_uri: "http://127.0.0.1:9000/phone" }],
    },
  ],
  solutions: [{ id: "4201", name: "Sol", owner_app: "1001" }],
  migration_intents: [{ id: "4301", waba: "4001", destination_waba: "4002", solution: "4201", status: "INITIATED" }],
  ads: [{ id: "8501", app: "1001", campaign_id: "8502", objective: "APP_INSTALLS", tracked_apps: [] }],
  tokens: [
    { token: "full-app", type: "app", app: "1001", scopes },
    { token: "full-user", type: "user", app: "1001", user: "3001", scopes },
    { token: "full-system_user", type: "system_user", app: "1001", user: "3001", scopes },
    { token: "full-page", type: "page", app: "1001", page: "2001", user: "3001", scopes },
    { token: "full-social_user", type: "social_user", app: "1001", social_account: "6001", scopes },
    { token: "full-microblog_user", type: "microblog_user", app: "1001", microblog_user: "7001", scopes },
  ],
};

/** The full world, in which every node refers to another node if it can. */
export const busyWorld = {
  ...fullWorld,
  businesses: [{ id: "3501", name: "Agency", people: [{ user: "3001" }] }, { id: "3502" }],
  pages: fullWorld.pages.map((page) => ({ ...page, subscribed_apps: [{ app: "1001", subscribed_fields: ["live_videos"] }] })),
  live_videos: [{ id: "5301", page: "2001", status: "LIVE", crossposted_pages: ["2002"] }],
  live_comments: [
    { id: "5401", live_video: "5301", from: "3001", message: "hi" },
    { id: "5402", live_video: "5301", from: "2001", message: "hi" },
  ],
  live_reactions: [{ live_video: "5301", from: "3001", type: "LOVE" }],
  ads: [
    { id: "8501", app: "1001", tracked_apps: ["1002"] },
    { id: "8503", app: "1002", tracked_apps: ["1001"] },
  ],
  media: [...fullWorld.media, { id: "6102", owner: "6002", tagged: ["6001"] }, { id: "6103", owner: "6001", children: ["6101"] }],
  catalogs: [
    ...fullWorld.catalogs,
    { id: "8002", page: "2002", business: "3501", agencies: [{ business: "3502", permitted_tasks: ["240588526848665"] }] },
  ],
};

/** For each node type that has operations, the id of a node. */
export const nodeOfType: Readonly<Record<string, string>> = {
  app: "1001",
  page: "2001",
  user: "3001",
  business: "3501",
  page_person: "9001",
  label: "5001",
  persona: "5101",
  live_video: "5301",
  social_account: "6001",
  social_scoped_account: "6901",
  microblog_user: "7001",
  microblog_media: "7101",
  product_catalog: "8001",
  product_feed: "8101",
  product_feed_upload: "8201",
  chatapp_account: "4001",
  phone_number: "4101",
  migration_intent: "4301",
};

/** Opens a world with a node of each type, also of the types that a world file cannot have. */
export async function openFullPlaza(options: PlazaOptions): Promise<TestPlaza> {
  const plaza = await openPlaza({ world: fullWorld, ...options });
  const { world } = plaza;
  const { ids } = world;
  const id = nodeId(nodeOfType.product_feed_upload as string);
  const scopes = ["catalog_management"];
  const bearer = await plaza.mint({ type: "page", app: nodeId("1001"), page: nodeId("2001"), scopes });
  Object.assign(world, { ids: { mint: () => id } });
  await plaza.post("/v25.0/8101/uploads", { bearer, body: { url: "https://example.com/books.csv" } });
  Object.assign(world, { ids });
  return plaza;
}
