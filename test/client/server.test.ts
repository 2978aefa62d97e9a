/** Checks the client with a server: every operation, delivered webhooks, and user data. */
import { describe, expect, test } from "bun:test";
import { operations } from "#client/generated/operations";
import { challengeOf, createClient, hashUserData, normalizeUserData, readWebhook, request, type UserDataKey } from "#client/index";
import { features } from "#features";
import { Registry } from "#graph/contract/registry";
import { startReceiver } from "#harness/receiver";
import { startServer } from "#harness/server";
import { demoNodes } from "./demo-nodes.ts";

/** The client is the one for the response profile `strict`, which lacks the operations that only the profile `clients` has. */
const endpoints = new Registry(features).endpoints.filter(({ access }) => access.surfaces.length > 0);

test("the client has the operations of the contract, and no others", () =>
  expect(Object.keys(operations)).toEqual(endpoints.map(({ access }) => access.operation).sort()));

test("each operation of the client runs that operation of the server", async () => {
  const server = await startServer(["--data", ":memory:"]);
  const graph = createClient({ baseUrl: server.base_url, retries: 0 });
  // The demo world has no uploads, so the test makes one.
  const file = new Blob(["id,title,link,image_link\n"], { type: "text/csv" });
  const upload = await graph.createUpload("8101", { file }, { accessToken: "demo-page-token" });
  const nodes: typeof demoNodes = { ...demoNodes, product_feed_upload: [upload.id, "demo-page-token"] };
  // Nodes are deleted last, and a catalog after its feed.
  const place = ({ served, nodeType }: (typeof endpoints)[number]): number =>
    served?.contract.method !== "DELETE" || served.contract.edge !== null ? 0 : nodeType === "product_catalog" ? 2 : 1;
  for (const { access, nodeType } of [...endpoints].sort((a, b) => place(a) - place(b))) {
    const [id, accessToken] = nodes[nodeType ?? ""] ?? ["", "demo-user-token"];
    if (nodeType !== undefined && id === "") throw new Error(`the demo world has no ${nodeType}`);
    const words: unknown[] = [{}, { accessToken, headers: { "X-Forwarded-For": "203.0.113.9" } }];
    const one = (request as (...args: unknown[]) => Parameters<typeof graph.send>[0])(
      access.operation,
      ...(nodeType === undefined ? [] : [id]),
      ...words,
    );
    // Many requests without parameters are refused, and the test checks that the error comes from the operation that the client called.
    await Promise.resolve(graph.send(one)).catch(() => {});
    const headers = { authorization: `Bearer ${server.control_key}` };
    const log = (await (await fetch(`${server.control_url}/v1/worlds/default/requests?limit=1`, { headers })).json()) as {
      data: { operation: string }[];
    };
    expect({ asked: access.operation, ran: log.data[0]?.operation }).toEqual({ asked: access.operation, ran: access.operation });
  }
});

test("a batch runs on each of the hosts", async () => {
  const server = await startServer(["--data", ":memory:"]);
  const graph = createClient({ baseUrl: server.base_url, retries: 0 });
  const text = { message: { text: "hello, me" } };
  expect([
    ...(await graph.batch([request("readLabel", "5001", { fields: "id" })], { accessToken: "demo-page-token" })),
    ...(await graph.batch([request("listRequiredActions", "1001")], { accessToken: "demo-app-token" })),
    ...(await graph.batch([request("readMicroblogUser", "7001", { fields: "id" })], { accessToken: "demo-microblog-token" })),
    ...(await graph.batch([request("createCatalog", "2001", { name: "Books" })], { accessToken: "demo-user-token" })),
    ...(await graph.batch([request("sendSelfMessage", "6901", text)], { accessToken: "demo-social-token", surface: "social_login" })),
  ] as unknown[]).toMatchObject([
    { value: { id: "5001" } },
    { value: { required_action: expect.any(Array) } },
    { value: { id: "7001" } },
    { value: { id: expect.any(String) } },
    { value: { id: expect.any(String) } },
  ]);
});

test("the account's own token sends only on the social login host, and an unserved version is an error of that kind", async () => {
  const server = await startServer(["--data", ":memory:"]);
  const graph = createClient({ baseUrl: server.base_url, accessToken: "demo-social-token", surface: "social_login", retries: 0 });
  const text = { message: { text: "hello, me" } };
  expect(await graph.sendSelfMessage("6901", text)).toEqual({ id: expect.any(String) });
  await expect(graph.sendSelfMessage("6901", text, { surface: "base" })).rejects.toMatchObject({ kind: "token" });
  const readPage = (version: string) => graph.readPage("2001", {}, { version, accessToken: "demo-page-token" });
  await expect(readPage("v19.0")).rejects.toMatchObject({ kind: "version", code: 2500 });
  await expect(readPage("v25.0")).resolves.toMatchObject({ id: "2001" });
  await expect(graph.readLabel("vip", {}, { accessToken: "demo-page-token" })).rejects.toMatchObject({ kind: "parameter", code: 2500 });
});

describe("webhooks", () => {
  test("a delivery is verified and read, and a changed one is refused", async () => {
    const server = await startServer(["--data", ":memory:"]);
    const receiver = startReceiver();
    const arrived = new Promise<(typeof receiver.posts)[number]>((resolve) => {
      receiver.response = (post) => {
        resolve(post);
        return new Response();
      };
    });
    const control = (method: string, path: string, body: unknown) =>
      fetch(`${server.control_url}/v1/worlds/default/${path}`, {
        method,
        headers: { authorization: `Bearer ${server.control_key}` },
        body: JSON.stringify(body),
      });
    await control("PATCH", "nodes/apps/1001", {
      callback: { url: receiver.url, verified: true },
      subscriptions: [{ object: "page", fields: ["custom_labels"] }],
    });
    const graph = createClient({ baseUrl: server.base_url, accessToken: "demo-page-token" });
    await graph.subscribeToPage("2001", { subscribed_fields: ["custom_labels"] });
    const { id } = await graph.createLabel("2001", { page_label_name: "Grüße" });
    const delivery = await arrived;
    const given = { body: delivery.body, headers: delivery.headers, appSecret: "demo-app-secret" };
    const { id: delivered, updates } = await readWebhook(given);
    expect(delivered).toBe(delivery.headers["webhook-id"]);
    const [update] = updates;
    if (update?.field !== "custom_labels") throw new Error("another field");
    expect({ entity: update.entity, action: update.value.action, label: update.value.label }).toEqual({
      entity: "2001",
      action: "created",
      label: { id, name: "Grüße" },
    });

    const [platform, standard] = [{ "x-hub-signature-256": delivery.headers["x-hub-signature-256"] }, delivery.headers];
    expect((await readWebhook({ ...given, headers: new Headers(platform as Record<string, string>) })).updates).toEqual(updates);
    for (const headers of [platform, standard]) {
      await expect(readWebhook({ ...given, headers, appSecret: "another" })).rejects.toThrow("the body is not signed with the app's secret");
      await expect(readWebhook({ ...given, headers, body: `${delivery.body} ` })).rejects.toThrow("the body is not signed with the app's secret");
    }
    await expect(readWebhook({ ...given, headers: {} })).rejects.toThrow("the body is not signed with the app's secret");
    await expect(readWebhook({ ...given, headers: { ...standard, "webhook-signature": "v1,%" } })).rejects.toThrow(
      "the body is not signed with the app's secret",
    );
    await expect(readWebhook({ ...given, toleranceSeconds: -1 })).rejects.toThrow("too old");
  });

  test("only a verification with the app's own token is accepted", () => {
    const url = "https://shop.example/hook?hub.mode=subscribe&hub.challenge=42&hub.verify_token=mine";
    expect(challengeOf(url, "mine")).toBe("42");
    expect(challengeOf(url, "other")).toBeUndefined();
    // The path and query of the URL without its host, as in `request.url` of Node.
    expect(challengeOf("/hook?hub.mode=subscribe&hub.challenge=42&hub.verify_token=mine", "mine")).toBe("42");
    expect(challengeOf("https://shop.example/hook?hub.challenge=42&hub.verify_token=mine", "mine")).toBeUndefined();
  });
});

describe("user data", () => {
  test.each([
    ["em", " Ada@Example.COM ", "ada@example.com"],
    ["fn", "Zoë-Anne ", "zoëanne"],
    ["ln", "O'Neill", "oneill"],
    ["ph", "+49 (30) 123-456", "4930123456"],
    ["external_id", "Customer 7", "Customer 7"],
    ["ge", "Female", "f"],
    ["ge", "unknown", ""],
    ["db", "1990-02-03", "19900203"],
    ["ct", "New York", "newyork"],
    ["st", "CA", "ca"],
    ["zp", "94025-1234", "940251234"],
    ["cn", "US", "us"],
  ])("%s: %p is normalized as %p", (key, value, normal) => expect(normalizeUserData(key as UserDataKey, value)).toBe(normal));

  test("is hashed as the server requires; an empty one is omitted", async () => {
    // The hash is computed with `printf 'ada@example.com' | sha256sum`.
    expect(await hashUserData({ em: "Ada@Example.com", ge: "?" })).toEqual({
      em: "b5fc85e55755f9e0d030a10ab4429b6b2944855f9a0d60077fe832becbc41d72",
    });
  });
});
