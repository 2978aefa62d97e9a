/**
 * Checks that an export has a fixed order in every list, however the world was made: numbers are sorted as numbers, and entries with equal first keys
 * by the next key.
 */
import { expect, test } from "bun:test";
import { exportWorld, sectionsOf } from "#graph/worlds/file/import-export";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { scrambled, TIME } from "./scrambled-world.ts";

/** The expected entries of each list, in order. The first text says which fields of the entries the test compares. */
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
  test("is that of the ids, below the owner, in every list and in the lists of its entries", async () => {
    const { world, registry } = await openPlaza({ database, world: scrambled });
    const file = (await exportWorld(world, registry)) as Record<string, Record<string, unknown>[]>;
    const of = (entries: unknown, fields: string): string[] =>
      (entries as Record<string, unknown>[]).map((entry) =>
        fields
          .split(" ")
          .map((field) => entry[field] ?? "")
          .join(" "),
      );
    // order: this compares which lists there are, not their order.
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

test("a node with the smallest possible id, and its children, are listed like any other", async () => {
  const inAnyOrder = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inAnyOrder).sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
    return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value).map(([key, of]) => [key, inAnyOrder(of)])) : value;
  };
  const exported = async (world: Record<string, unknown>): Promise<string> => {
    const plaza = await openPlaza({ world });
    return JSON.stringify(await exportWorld(plaza.world, plaza.registry));
  };
  const withLeast = (text: string, id: unknown) => JSON.parse(text.replaceAll(`"${id}"`, '"1"').replaceAll(`"id":${id},`, '"id":1,'));
  const [given, expected] = [JSON.stringify(scrambled), await exported(scrambled)];
  for (const [key, [first]] of Object.entries(scrambled)) {
    // The first entry of each list has several other entries that belong to it.
    if (first === undefined || !("id" in first)) continue;
    const found = JSON.parse(await exported(withLeast(given, first.id)));
    expect({ [key]: inAnyOrder(found) }).toEqual({ [key]: inAnyOrder(withLeast(expected, first.id)) });
  }
});
