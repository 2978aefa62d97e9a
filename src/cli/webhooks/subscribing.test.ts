/** Tests which accounts and pages `plaza listen` subscribes and restores. */
import { describe, expect, test } from "bun:test";
import { ControlRefusal, type ControlRequests } from "#control/client/requests";
import type { WebhookField } from "#webhooks/catalogue/field";
import { fieldsNamed, findApp, type Subscribed, subscribeAccounts, unsubscribeAccounts } from "./subscribing.ts";

type Sent = readonly [method: string, path: string, body?: unknown];

/** A stand-in for the control API that returns the values of the test, and records the requests that it gets. */
function controlOf(respond: (method: string, path: string) => unknown) {
  const sent: Sent[] = [];
  const control = {
    request: async (method: string, path: string, body?: unknown) => {
      sent.push(body === undefined ? [method, path] : [method, path, body]);
      return respond(method, path);
    },
  } as unknown as ControlRequests;
  return { control, sent, changes: () => sent.filter(([method]) => method !== "GET") };
}

const field = (object: string, name: string): WebhookField => ({ object, field: name }) as unknown as WebhookField;
const all = [
  field("page", "messages"),
  field("page", "custom_labels"),
  field("social", "messages"),
  field("social", "comments"),
  field("catalog", "items"),
];

describe("the events that are named", () => {
  test.each<[names: string, fields: object]>([
    ["messages", { page: ["messages"], social: ["messages"] }],
    ["page.messages", { page: ["messages"] }],
    ["social.*", { social: ["messages", "comments"] }],
    [" comments , page.custom_labels", { social: ["comments"], page: ["custom_labels"] }],
    ["comments,comments,social.comments", { social: ["comments"] }],
    ["*", { page: ["messages", "custom_labels"], social: ["messages", "comments"], catalog: ["items"] }],
  ])("%s", (names, fields) => {
    expect(fieldsNamed(names, all)).toEqual(fields);
  });

  test("have to exist", () => {
    expect(() => fieldsNamed("messages,comment", all)).toThrow("--events: there is no event comment; did you mean comments?; plaza trigger --list");
    expect(() => fieldsNamed("feed.*", all)).toThrow("there is no event feed.*");
    expect(() => fieldsNamed("", all)).toThrow("there is no event ");
  });
});

test("the app is the one that is named, else the only one", async () => {
  const named = controlOf(() => ({ id: "a/b" }));
  expect(await findApp(named.control, "a/b")).toMatchObject({ id: "a/b" });
  expect(named.sent).toEqual([["GET", "nodes/apps/a%2Fb"]]);
  const of = (...ids: string[]) => controlOf(() => ({ data: ids.map((id) => ({ id })) }));
  const only = of("1");
  expect(await findApp(only.control, undefined)).toMatchObject({ id: "1" });
  expect(only.sent).toEqual([["GET", "nodes/apps?limit=2"]]);
  await expect(findApp(of().control, undefined)).rejects.toThrow("the world has no app");
  await expect(findApp(of("1", "2").control, undefined)).rejects.toThrow("the world has several apps: choose one with --app");
});

describe("an account", () => {
  const subscribedTo = async (fields: Parameters<typeof subscribeAccounts>[2], account: object) => {
    const { control, changes, sent } = controlOf((method) => (method === "GET" ? { data: [account], paging: {} } : {}));
    const subscribed: Subscribed[] = [];
    await subscribeAccounts(control, "app", fields, subscribed);
    return { changes: changes(), subscribed, listed: sent[0]?.[1] };
  };

  test("of a page gets the fields that it lacks beside those that it has; other apps keep theirs", async () => {
    const other = { app: "other", subscribed_fields: ["feed"] };
    const own = { app: "app", subscribed_fields: ["a", "b"] };
    expect(await subscribedTo({ page: ["b", "c"] }, { id: "1", subscribed_apps: [own, other] })).toEqual({
      listed: "nodes/pages?limit=50",
      changes: [["PATCH", "nodes/pages/1", { subscribed_apps: [other, { app: "app", subscribed_fields: ["a", "b", "c"] }] }]],
      subscribed: [{ object: "page", id: "1", before: { id: "1", subscribed_apps: [own] } }],
    });
    expect((await subscribedTo({ page: ["c"] }, { id: "1" })).changes).toEqual([
      ["PATCH", "nodes/pages/1", { subscribed_apps: [{ app: "app", subscribed_fields: ["c"] }] }],
    ]);
    for (const held of [["c"], ["c", "d"]])
      expect(await subscribedTo({ page: ["c"] }, { id: "1", subscribed_apps: [{ app: "app", subscribed_fields: held }] })).toMatchObject({
        changes: [],
        subscribed: [],
      });
    expect((await subscribedTo({ page: ["c"] }, { id: "1", subscribed_apps: [{ app: "app" }] })).changes).toHaveLength(1);
  });

  test("of the business chat and of a catalog's page is subscribed where it is not yet", async () => {
    const other = { app: "other" };
    expect(await subscribedTo({ chatapp_business_account: ["messages"] }, { id: "4", subscribed_apps: [other] })).toMatchObject({
      listed: "nodes/chatapp_accounts?limit=50",
      changes: [["PATCH", "nodes/chatapp_accounts/4", { subscribed_apps: [other, { app: "app" }] }]],
      subscribed: [{ object: "chatapp_business_account", before: { subscribed_apps: [] } }],
    });
    expect(await subscribedTo({ catalog: ["items"] }, { id: "2" })).toMatchObject({
      listed: "nodes/pages?limit=50",
      changes: [["PATCH", "nodes/pages/2", { subscribed_apps: [{ app: "app", subscribed_fields: [] }] }]],
    });
    expect((await subscribedTo({ catalog: ["items"] }, { id: "2", subscribed_apps: [other] })).changes).toEqual([
      ["PATCH", "nodes/pages/2", { subscribed_apps: [other, { app: "app", subscribed_fields: [] }] }],
    ]);
    for (const object of ["chatapp_business_account", "catalog"] as const)
      expect((await subscribedTo({ [object]: ["x"] }, { id: "2", subscribed_apps: [other, { app: "app" }] })).changes).toEqual([]);
  });

  test("of the social surface is connected where it is not yet", async () => {
    expect(await subscribedTo({ social: ["comments"] }, { id: "6", app_connections: ["other"] })).toMatchObject({
      listed: "nodes/social_accounts?limit=50",
      changes: [["PATCH", "nodes/social_accounts/6", { app_connections: ["other", "app"] }]],
    });
    expect((await subscribedTo({ social: ["comments"] }, { id: "6" })).changes).toEqual([
      ["PATCH", "nodes/social_accounts/6", { app_connections: ["app"] }],
    ]);
    expect((await subscribedTo({ social: ["comments"] }, { id: "6", app_connections: ["other", "app"] })).changes).toEqual([]);
  });

  test("of an object without a field is not even read", async () => {
    expect(await subscribedTo({ page: [], social: ["comments"] }, { id: "6" })).toMatchObject({ listed: "nodes/social_accounts?limit=50" });
  });
});

test("accounts are read page by page, up to a thousand of a kind", async () => {
  const sizes = [600, 399, 1, 1];
  let page = 0;
  const { control, sent } = controlOf((method) => {
    if (method !== "GET") return {};
    const data = Array.from({ length: sizes[page++] as number }, (_, at) => ({ id: `${page}-${at}` }));
    return { data, paging: { next: `http://elsewhere:1/v1/worlds/w/nodes/pages?after=${page}` } };
  });
  const subscribed: Subscribed[] = [];
  await subscribeAccounts(control, "app", { page: ["feed"] }, subscribed);
  expect(sent.filter(([method]) => method === "GET").map(([, path]) => path)).toEqual([
    "nodes/pages?limit=50",
    ...[1, 2].map((after) => `/v1/worlds/w/nodes/pages?after=${after}`),
  ]);
  expect([subscribed.length, subscribed[0]?.id, subscribed.at(-1)?.id]).toEqual([1_000, "1-0", "3-0"]);
});

test("an account that could not be changed is not among those to give back, and nothing further is changed", async () => {
  const { control } = controlOf((method, path) => {
    if (path.endsWith("/2")) throw new ControlRefusal("no");
    return method === "GET" ? { data: [{ id: "1" }, { id: "2" }, { id: "3" }], paging: {} } : {};
  });
  const subscribed: Subscribed[] = [];
  await expect(subscribeAccounts(control, "app", { page: ["feed"] }, subscribed)).rejects.toThrow("no");
  expect(subscribed.map(({ id }) => id)).toEqual(["1"]);
});

describe("what is given back", () => {
  const page: Subscribed = { object: "page", id: "1", before: { id: "1", subscribed_apps: [{ app: "app", subscribed_fields: ["a"] }] } };
  const social: Subscribed = { object: "social", id: "6", before: { id: "6" } };
  const now: Readonly<Record<string, object>> = {
    "nodes/pages/1": { id: "1", subscribed_apps: [{ app: "other" }, { app: "app", subscribed_fields: ["a", "b"] }] },
    "nodes/social_accounts/6": { id: "6", app_connections: ["app", "other"] },
  };

  test("is what the app had before, the last account first; what others changed stays", async () => {
    const { control, changes } = controlOf((_, path) => now[path]);
    await unsubscribeAccounts(control, "app", [page, social]);
    expect(changes()).toEqual([
      ["PATCH", "nodes/social_accounts/6", { app_connections: ["other"] }],
      ["PATCH", "nodes/pages/1", { subscribed_apps: [{ app: "other" }, { app: "app", subscribed_fields: ["a"] }] }],
    ]);
    const bare = controlOf((_, path) => ({ id: path }));
    await unsubscribeAccounts(bare.control, "app", [{ ...page, before: { id: "1" } }, social]);
    expect(bare.changes().map(([, , body]) => body)).toEqual([{ app_connections: [] }, { subscribed_apps: [] }]);
  });

  test("an account that is gone keeps none of the others from it; a server that does not respond is reported", async () => {
    const gone = controlOf((method, path) => {
      if (path.includes("social") && method === "GET") throw new ControlRefusal("there is no 6");
      return now[path];
    });
    await unsubscribeAccounts(gone.control, "app", [page, social]);
    expect(gone.changes()).toHaveLength(1);
    for (const failing of ["GET", "PATCH"]) {
      const away = controlOf((method, path) => {
        if (method === failing) throw new Error("no server");
        return now[path];
      });
      await expect(unsubscribeAccounts(away.control, "app", [page])).rejects.toThrow("no server");
    }
  });
});
