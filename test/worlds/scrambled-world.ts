/** A world with several nodes of each type, which belong to several owners. No two entries share a value, so that a mixed-up value shows. */

export const TIME = 1_794_990_000;

/** The entries. No list is sorted, neither ascending nor descending, and for each type of id one id is longer than another. */
const entries = {
  users: [{ id: "3002" }, { id: "30001" }, { id: "3001" }],
  businesses: [
    { id: "3502", people: [{ user: "3002" }, { user: "30001" }, { user: "3001" }] },
    { id: "35001", people: [] },
    { id: "3501", people: [] },
  ],
  places: [{ id: "9902" }, { id: "99001" }, { id: "9901" }],
  apps: [
    {
      ...{ id: "1002", mode: "development", access_level: "standard", event_name_limit: 5, created_time: TIME, marketing_first_used_time: TIME },
      // Each of these values differs from the default.
      ...{ auto_upgrade: false, require_appsecret_proof: true, allow_tokenless_events: true, automatic_event_logging: true, messaging_access: false },
      subscriptions: [
        { object: "social", fields: [], callback: { url: "https://receiver.example/" } },
        { object: "catalog", fields: [], callback: { url: "https://receiver.example/" } },
        { object: "page", fields: [], callback: { url: "https://receiver.example/" } },
      ],
      roles: [
        { user: "3002", role: "tester" },
        { user: "3002", role: "administrator" },
        { user: "30001", role: "developer" },
        { user: "3002", role: "developer" },
        { user: "3001", role: "tester" },
      ],
    },
    { id: "10001" },
    { id: "1001" },
  ],
  pages: [
    {
      id: "2002",
      people: [{ psid: "9002" }, { psid: "90001" }, { psid: "9001" }],
      roles: [{ user: "3002", tasks: ["MODERATE", "MESSAGING"], via_business: true }, { user: "30001" }, { user: "3001" }],
      subscribed_apps: ["1002", "10001", "1001"].map((app) => ({ app, subscribed_fields: ["live_videos"] })),
    },
    { id: "20001" },
    { id: "2001" },
  ],
  labels: [
    { id: "5003", page: "20001", name: "c", users: [] },
    { id: "5002", page: "2002", name: "b", users: ["9002", "90001", "9001"] },
    { id: "50001", page: "2002", name: "a" },
    { id: "5001", page: "2002", name: "d" },
  ],
  personas: [
    { id: "5103", page: "20001" },
    { id: "5102", page: "2002" },
    { id: "51001", page: "2002" },
    { id: "5101", page: "2002" },
  ].map((persona) => ({ ...persona, name: "Bo", profile_picture_url: "https://example.com/bo.png" })),
  required_actions: [
    { id: 5203, app: "10001", due_date: TIME },
    { id: 5202, app: "1002", due_date: TIME },
    { id: 52001, app: "1002" },
    { id: 5201, app: "1002", due_date: TIME + 1, description: "Now", status: "in_review" },
  ],
  live_videos: [
    { id: "5303", page: "20001" },
    { id: "5302", page: "2002", crossposted_pages: ["20001", "2001"] },
    {
      ...{ id: "53001", page: "2002", description: "Day", embeddable: true, sealing_fails: true, place: "9902", creation_time: TIME },
      ...{
        targeting: { geo_locations: { countries: ["DE", "FR"] }, excluded_countries: ["US"] },
        status: "VOD",
        broadcast_start_time: TIME,
        end_reason: "NO_FEED",
      },
    },
    { id: "5301", page: "2002" },
  ],
  live_comments: [
    { id: "5403", live_video: "5303", from: "3001" },
    { id: "5402", live_video: "5302", from: "3002" },
    { id: "54001", live_video: "5302", from: "3001" },
    { id: "5401", live_video: "53001", from: "3001" },
    { id: "5404", live_video: "5301", from: "3001" },
  ].map((comment) => ({ ...comment, message: "Hi" })),
  live_reactions: [
    { live_video: "5303", from: "3001" },
    { live_video: "5302", from: "3002" },
    { live_video: "5302", from: "30001" },
    { live_video: "5302", from: "3001" },
    { live_video: "5301", from: "3002" },
  ],
  social_accounts: [
    { id: "6002", page: "2002", user: "3002", professional: false, app_connections: ["1001", "1002"] },
    { id: "60001" },
    { id: "6001" },
  ],
  media: [
    { id: "6103", owner: "60001" },
    { id: "6102", owner: "6002", tagged: ["60001", "6001"] },
    {
      ...{
        id: "61001",
        owner: "6002",
        private: true,
        media_type: "VIDEO",
        media_product_type: "REELS",
        like_count: 3,
        comments_count: 4,
        timestamp: TIME,
      },
      ...{ media_url: "https://example.com/v.mp4", permalink: "https://example.com/v", thumbnail_url: "https://example.com/v.jpg", shortcode: "v" },
    },
    { id: "6101", owner: "6002" },
  ],
  microblog_users: [{ id: "7002", user: "3002" }, { id: "70001" }, { id: "7001" }],
  microblog_media: [
    { id: "7103", owner: "70001" },
    { id: "7102", owner: "7002" },
    { id: "71001", owner: "7002" },
    { id: "7101", owner: "7002" },
  ],
  activity: [
    { target: "71001", metric: "likes", time: TIME },
    { target: "7101", metric: "views", time: TIME + 1 },
    { target: "7101", metric: "views", time: TIME },
    { target: "7101", metric: "likes", time: TIME + 2 },
    { target: "7002", metric: "clicks", time: TIME, link_url: "https://example.com/b" },
    { target: "7002", metric: "clicks", time: TIME, link_url: "https://example.com/a" },
  ],
  followers: [
    { microblog_user: "70001", country: "AT", time: TIME },
    { microblog_user: "7001", country: "AT", time: TIME + 1 },
    { microblog_user: "7001", country: "DE", city: "Ulm", time: TIME },
    { microblog_user: "7001", country: "DE", city: "Bonn", age: "25-34", gender: "M", time: TIME },
    { microblog_user: "7001", country: "DE", city: "Bonn", age: "25-34", gender: "F", time: TIME },
    { microblog_user: "7001", country: "DE", city: "Bonn", age: "18-24", gender: "M", time: TIME },
    { microblog_user: "7001", country: "AT", time: TIME },
  ],
  catalogs: [
    {
      id: "8002",
      page: "2002",
      business: "3502",
      external_business_id: "e-1",
      agencies: ["3502", "35001", "3501"].map((business) => ({ business, permitted_tasks: ["240588526848665"] })),
    },
    { id: "80001", page: "2001" },
    { id: "8001", page: "2001" },
  ],
  product_feeds: [
    {
      id: "8102",
      catalog: "8002",
      items: ["8302", "83001", "8301"].map((id) => ({
        id,
        retailer_id: id,
        name: "A Book",
        url: "https://example.com/b",
        image_url: "https://example.com/b.jpg",
      })),
    },
    { id: "81001", catalog: "8001", items: [] },
    { id: "8101", catalog: "8001", items: [] },
  ],
  chatapp_accounts: [
    { id: "4002", business: "3502", subscribed_apps: ["1002", "10001", "1001"].map((app) => ({ app })) },
    { id: "40001" },
    { id: "4001" },
  ],
  phone_numbers: [
    { id: "4103", account: "40001" },
    {
      id: "4102",
      account: "4002",
      overrides: ["1002", "10001", "1001"].map((app) => ({ app, override_callback_uri: "https://receiver.example/phone" })),
    },
    { id: "41001", account: "4002" },
    { id: "4101", account: "4002" },
  ],
  solutions: [
    { id: "4202", owner_app: "1001" },
    { id: "42001", owner_app: "1001" },
    { id: "4201", owner_app: "1001" },
  ],
  migration_intents: [
    { id: "4303", waba: "40001", destination_waba: "4001" },
    { id: "4302", waba: "4002", destination_waba: "4001" },
    { id: "43001", waba: "4001", destination_waba: "40001" },
    { id: "4301", waba: "4001", destination_waba: "40001" },
  ],
  ads: [
    { id: "8502", app: "1001", campaign_id: "95", objective: "LINK_CLICKS", tracked_apps: ["1001", "1002"] },
    { id: "85001", app: "1001" },
    { id: "8501", app: "1001" },
  ],
};

/** For each type of entry, a key whose text belongs to one entry alone. */
const TEXTS: Readonly<Record<string, string>> = {
  users: "name",
  businesses: "name",
  places: "name",
  apps: "name",
  pages: "name",
  labels: "name",
  personas: "name",
  required_actions: "title",
  live_videos: "title",
  live_comments: "message",
  social_accounts: "username",
  media: "caption",
  microblog_users: "username",
  microblog_media: "text",
  catalogs: "name",
  product_feeds: "name",
  chatapp_accounts: "name",
  phone_numbers: "verified_name",
  solutions: "name",
};

/** The world file in which no two entries have the same text. */
export const scrambled = Object.fromEntries(
  Object.entries(entries).map(([key, list]) => {
    const field = TEXTS[key];
    return [key, list.map((entry) => (field === undefined || !("id" in entry) ? entry : { ...entry, [field]: `${key} of ${entry.id}` }))];
  }),
);
