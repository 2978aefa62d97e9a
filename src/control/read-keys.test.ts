/** D-170: tests that a key with the access `read` gets no secret of a world, whatever address it requests. */
import { expect, test } from "bun:test";
import { hashOf } from "#auth/tokens";
import { KEY, openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import { fullWorld, nodeOfType } from "#harness/full-world";
import { startReceiver } from "#harness/receiver";
import { controlRoutes } from "./routes.ts";

/** Secrets with texts that appear in no response by chance. */
const secrets = {
  app: "secret0app0secret0app0secret",
  verify: "secret0verify0token0secret0",
  ofSubscription: "secret0verify0of0subscription",
  query: "secret0in0a0query0of0callback",
  password: "secret0password0of0an0address",
  token: "secret0token0of0a0page0secret",
  streamKey: "secret0stream0key0of0a0video0",
};
const hashes = [hashOf(secrets.token), hashOf(secrets.streamKey)];

const worldAt = (callback: string) => {
  const address = (path: string) => `http://ada:${secrets.password}@127.0.0.1:9/${path}?key=${secrets.query}`;
  const [shop, other] = fullWorld.apps;
  const { chatapp_accounts: accounts, phone_numbers: numbers, product_feeds: feeds } = fullWorld;
  return {
    ...fullWorld,
    clock: { now: 1_795_000_000, frozen: true },
    apps: [
      {
        ...shop,
        secret: secrets.app,
        callback: { url: `${callback}?key=${secrets.query}`, verify_token: secrets.verify, verified: true },
        subscriptions: [
          { object: "chatapp_business_account", fields: ["messages"] },
          { object: "page", fields: ["live_videos"], callback: { url: address("page"), verify_token: secrets.ofSubscription, verified: true } },
        ],
      },
      other,
    ],
    chatapp_accounts: accounts.map((account) => ({ ...account, subscribed_apps: [{ app: "1001" }, { app: "1002" }] })),
    phone_numbers: numbers.map((number) => ({ ...number, overrides: [{ app: "1002", override_callback_uri: address("number") }] })),
    product_feeds: feeds.map((feed) => ({
      ...feed,
      schedule: { interval: "DAILY", hour: 1, url: `https://example.com/feed.csv?key=${secrets.query}` },
    })),
    live_videos: [{ ...fullWorld.live_videos[0], stream_key: secrets.streamKey }],
    tokens: [...fullWorld.tokens, { token: secrets.token, type: "page", app: "1001", page: "2001", user: "3001", scopes: [] }],
  };
};

onEachDatabase("D-170: what a read-only key reads", (database) => {
  test("no secret of a world is in any response, nor a hash of one; a key with full access sees them", async () => {
    const receiver = startReceiver();
    const { plaza, app, request } = await openControl({ database, world: worldAt(receiver.url) });
    receiver.response = () => new Response(`{"token":"${secrets.token}"}`, { status: 500 });
    expect((await request("POST", "in-app/chatapp", { account: "4001", field: "messages", value: { a: 1 } })).status).toBe(200);
    await plaza.world.work.runDue();
    const body = `callback_url=${encodeURIComponent(`http://h.example/?key=${secrets.query}`)}&access_token=${secrets.token}`;
    plaza.world.requests.add({
      ...{ trace_id: "Atrace", operation: "createSubscription", method: "POST", surface: "base", path: "/v26.0/1001/subscriptions", query: "" },
      ...{
        status: 200,
        time: 1,
        duration_ms: 1,
        app: "1001",
        request_body: body,
        response_body: `{"callback_url":"http://h.example/?k=${secrets.query}"}`,
      },
    });
    const key = (await request("POST", "/v1/control-keys", { access: "read" })).body.key as string;
    const deliveries = (await request("GET", "deliveries")).body.data as { id: string }[];

    const keysOf = Object.keys(fullWorld).filter((name) => name !== "tokens");
    const ids = [...Object.values(nodeOfType), ...deliveries.map(({ id }) => id), "Atrace"];
    const addresses = controlRoutes(plaza.registry).flatMap(({ method, path, isStreamAlone }) => {
      if (method !== "GET" || (isStreamAlone === true && path.endsWith("/stream"))) return [];
      const known = path.replace("{w}", "default").replace("{app}", "1001").replace("{object}/{field}", "page/live_videos").replace("{n}", "1");
      const filled = known.includes("{key}") ? keysOf.map((name) => known.replace("{key}", name)) : [known];
      return filled.flatMap((one) => (/\{\w+\}/.test(one) ? ids.map((id) => one.replace(/\{\w+\}/, id)) : [one]));
    });
    const found = { read: new Set<string>(), full: new Set<string>() };
    const look = async (path: string, access: "read" | "full") => {
      const response = await app.request(path, { headers: { authorization: `Bearer ${access === "read" ? key : KEY}` } });
      const text = await response.text();
      for (const [name, value] of Object.entries(secrets)) if (text.includes(value)) found[access].add(`${name} at ${path}`);
      for (const hash of hashes) if (text.includes(hash)) found[access].add(`a hash at ${path}`);
    };
    for (const path of addresses) {
      await look(path, "read");
      await look(path, "full");
    }
    expect([...found.read]).toEqual([]);
    const names = new Set([...found.full].map((one) => one.split(" at ")[0]));
    // The values of tokens and stream keys are not stored; the token's value appears in a response because the receiver repeats it.
    expect([...names].sort()).toEqual(["a hash", "app", "ofSubscription", "password", "query", "token", "verify"]);
  });

  test("an export has neither tokens nor secrets, and refuses to have them; a delivery has no signatures", async () => {
    const receiver = startReceiver();
    const { plaza, request } = await openControl({ database, world: worldAt(receiver.url) });
    await request("POST", "in-app/chatapp", { account: "4001", field: "messages", value: { a: 1 } });
    await plaza.world.work.runDue();
    const key = (await request("POST", "/v1/control-keys", { access: "read" })).body.key as string;
    const exported = (await request("GET", "export", undefined, key)).body;
    expect(exported).not.toHaveProperty("tokens");
    expect(exported.live_videos[0]).not.toHaveProperty("stream_key_sha256");
    expect(exported.apps[0]).not.toHaveProperty("secret");
    expect((await request("GET", "export?secrets=true", undefined, key)).body.error).toMatchObject({ code: "forbidden", parameter: "secrets" });
    const [{ id }] = (await request("GET", "deliveries", undefined, key)).body.data;
    const attempts = async (own: string) => (await request("GET", `deliveries/${id}`, undefined, own)).body.attempts as object[];
    expect((await attempts(KEY))[0]).toHaveProperty("signatures");
    expect((await attempts(key))[0]).not.toHaveProperty("signatures");
  });

  test("streams show what lists show, and links of lists work", async () => {
    const receiver = startReceiver();
    const { plaza, app, request } = await openControl({ database, world: worldAt(receiver.url) });
    for (const n of [1, 2]) {
      await request("POST", "in-app/chatapp", { account: "4001", field: "messages", value: { n } });
      await plaza.world.work.runDue();
    }
    const key = (await request("POST", "/v1/control-keys", { access: "read" })).body.key as string;
    const response = await app.request("/v1/worlds/default/deliveries/stream", { headers: { authorization: `Bearer ${key}` } });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let text = "";
    while (!text.includes('"callback"')) text += new TextDecoder().decode((await reader.read()).value);
    await reader.cancel();
    expect(text).toContain(`"callback":"${receiver.url}?…"`);
    const first = (await request("GET", "deliveries?limit=1", undefined, key)).body;
    const { pathname, search } = new URL(first.paging.next);
    const second = await request("GET", pathname + search, undefined, key);
    expect(second.body.data).toHaveLength(1);
    expect(second.body.data[0].id).not.toBe(first.data[0].id);
  });
});
