/** An export holds every list in an order of its own, whatever order the world was made in: numbers as numbers, equal first keys by the next. */
import { expect, test } from "bun:test";
import { exportWorld, sectionsOf } from "#graph/worlds/file/import-export";
import { onEachDatabase, openPlaza } from "#harness/plaza";

const TIME = 1_794_990_000;

/** No list stands in order, from either end, and of each kind of id one is longer than another. */
const scrambled = {
  users: [{ id: "3002" }, { id: "30001" }, { id: "3001" }],
  businesses: [
    { id: "3502", people: [{ user: "3002" }, { user: "30001" }, { user: "3001" }] },
    { id: "35001", people: [] },
    { id: "3501", people: [] },
  ],
  places: [{ id: "9902" }, { id: "99001" }, { id: "9901" }],
  apps: [
    {
      id: "1002",
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
      roles: [{ user: "3002" }, { user: "30001" }, { user: "3001" }],
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
    { id: 5201, app: "1002", due_date: TIME + 1 },
  ],
  live_videos: [
    { id: "5303", page: "20001" },
    { id: "5302", page: "2002", crossposted_pages: ["20001", "2001"] },
    { id: "53001", page: "2002" },
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
  social_accounts: [{ id: "6002" }, { id: "60001" }, { id: "6001" }],
  media: [
    { id: "6103", owner: "60001" },
    { id: "6102", owner: "6002", tagged: ["60001", "6001"] },
    { id: "61001", owner: "6002" },
    { id: "6101", owner: "6002" },
  ],
  microblog_users: [{ id: "7002" }, { id: "70001" }, { id: "7001" }],
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
    { id: "8002", page: "2002", agencies: ["3502", "35001", "3501"].map((business) => ({ business, permitted_tasks: ["240588526848665"] })) },
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
  chatapp_accounts: [{ id: "4002", subscribed_apps: ["1002", "10001", "1001"].map((app) => ({ app })) }, { id: "40001" }, { id: "4001" }],
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
    { id: "8502", app: "1001" },
    { id: "85001", app: "1001" },
    { id: "8501", app: "1001" },
  ],
};

/** By its fields, the entries of each list as they should come. */
const wanted: Readonly<Record<string, readonly [fields: string, ...entries: string[]]>> = {
  users: ["id", "3001", "3002", "30001"],
  businesses: ["id", "3501", "3502", "35001"],
  places: ["id", "9901", "9902", "99001"],
  apps: ["id", "1001", "1002", "10001"],
  pages: ["id", "2001", "2002", "20001"],
  labels: ["page id", "2002 5001", "2002 5002", "2002 50001", "20001 5003"],
  personas: ["page id", "2002 5101", "2002 5102", "2002 51001", "20001 5103"],
  required_actions: ["app id", "1002 5201", "1002 5202", "1002 52001", "10001 5203"],
  live_videos: ["page id", "2002 5301", "2002 5302", "2002 53001", "20001 5303"],
  live_comments: ["live_video id", "5301 5404", "5302 5402", "5302 54001", "53001 5401", "5303 5403"],
  live_reactions: ["live_video from", "5301 3002", "5302 3001", "5302 3002", "5302 30001", "5303 3001"],
  social_accounts: ["id", "6001", "6002", "60001"],
  media: ["owner id", "6002 6101", "6002 6102", "6002 61001", "60001 6103"],
  microblog_users: ["id", "7001", "7002", "70001"],
  microblog_media: ["owner id", "7002 7101", "7002 7102", "7002 71001", "70001 7103"],
  activity: [
    "target metric time link_url",
    `7002 clicks ${TIME} https://example.com/a`,
    `7002 clicks ${TIME} https://example.com/b`,
    `7101 likes ${TIME + 2} `,
    `7101 views ${TIME} `,
    `7101 views ${TIME + 1} `,
    `71001 likes ${TIME} `,
  ],
  followers: [
    "microblog_user time country city age gender",
    `7001 ${TIME} AT   `,
    `7001 ${TIME} DE Bonn 18-24 M`,
    `7001 ${TIME} DE Bonn 25-34 F`,
    `7001 ${TIME} DE Bonn 25-34 M`,
    `7001 ${TIME} DE Ulm  `,
    `7001 ${TIME + 1} AT   `,
    `70001 ${TIME} AT   `,
  ],
  catalogs: ["id", "8001", "8002", "80001"],
  product_feeds: ["id", "8101", "8102", "81001"],
  chatapp_accounts: ["id", "4001", "4002", "40001"],
  phone_numbers: ["account id", "4002 4101", "4002 4102", "4002 41001", "40001 4103"],
  solutions: ["id", "4201", "4202", "42001"],
  migration_intents: ["waba id", "4001 4301", "4001 43001", "4002 4302", "40001 4303"],
  ads: ["id", "8501", "8502", "85001"],
};

onEachDatabase("the order of an export", (database) => {
  test("is that of the ids, below what they belong to, in every list and in the lists of its entries", async () => {
    const { world, registry } = await openPlaza({ database, world: scrambled as never });
    const file = (await exportWorld(world, registry)) as Record<string, Record<string, unknown>[]>;
    const of = (entries: unknown, fields: string): string[] =>
      (entries as Record<string, unknown>[]).map((entry) =>
        fields
          .split(" ")
          .map((field) => entry[field] ?? "")
          .join(" "),
      );
    // order: which lists there are, not how they stand.
    expect(Object.keys(wanted).sort()).toEqual(
      sectionsOf(registry)
        .map(({ key }) => key)
        .sort(),
    );
    for (const [key, [fields, ...entries]] of Object.entries(wanted)) expect({ [key]: of(file[key], fields) }).toEqual({ [key]: entries });

    const within = (key: string, id: string) => file[key]?.find((entry) => entry.id === id) as Record<string, unknown>;
    expect(of(within("businesses", "3502").people, "user")).toEqual(["3001", "3002", "30001"]);
    expect(of(within("apps", "1002").subscriptions, "object")).toEqual(["catalog", "page", "social"]);
    expect(of(within("apps", "1002").roles, "user role")).toEqual([
      "3001 tester",
      "3002 administrator",
      "3002 developer",
      "3002 tester",
      "30001 developer",
    ]);
    expect(of(within("pages", "2002").people, "psid")).toEqual(["9001", "9002", "90001"]);
    expect(of(within("pages", "2002").roles, "user")).toEqual(["3001", "3002", "30001"]);
    expect(of(within("pages", "2002").subscribed_apps, "app")).toEqual(["1001", "1002", "10001"]);
    expect(within("labels", "5002").users).toEqual(["9001", "9002", "90001"]);
    expect(within("live_videos", "5302").crossposted_pages).toEqual(["2001", "20001"]);
    expect(within("media", "6102").tagged).toEqual(["6001", "60001"]);
    expect(of(within("catalogs", "8002").agencies, "business")).toEqual(["3501", "3502", "35001"]);
    expect(of(within("product_feeds", "8102").items, "id")).toEqual(["8301", "8302", "83001"]);
    expect(of(within("chatapp_accounts", "4002").subscribed_apps, "app")).toEqual(["1001", "1002", "10001"]);
    expect(of(within("phone_numbers", "4102").overrides, "app")).toEqual(["1001", "1002", "10001"]);
  });
});
