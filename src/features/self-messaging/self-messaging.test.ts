import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { type Receiver, startReceiver } from "#harness/receiver";
import { changeEntry, removeEntry } from "#harness/sections";
import { cafe } from "#harness/worlds";

const messageScopes = ["social_business_basic", "social_business_manage_messages"];
const world = {
  ...cafe,
  social_accounts: [
    { id: "6001", username: "cafe", social_scoped_id: "6901", page: "2001", user: "3001", app_connections: ["1001", "1002"] },
    { id: "6002", username: "bar", social_scoped_id: "6902", page: "2002", user: "3003", app_connections: ["1001"] },
    { id: "6003", username: "private", social_scoped_id: "6903", page: "2001", professional: false, app_connections: ["1001"] },
    { id: "6004", username: "unconnected", social_scoped_id: "6904", page: "2001" },
    { id: "6005", username: "limited", social_scoped_id: "6905", app_connections: ["1001"] },
  ],
  tokens: [
    ...cafe.tokens,
    { token: "cafe-page", type: "page", app: "1001", page: "2001", user: "3001", scopes: messageScopes },
    { token: "bar-page", type: "page", app: "1001", page: "2002", scopes: messageScopes },
    { token: "cafe-own", type: "social_user", app: "1001", social_account: "6001", scopes: messageScopes },
    { token: "bar-own", type: "social_user", app: "1001", social_account: "6002", scopes: messageScopes },
    { token: "private-own", type: "social_user", app: "1001", social_account: "6003", scopes: messageScopes },
    { token: "unconnected-own", type: "social_user", app: "1001", social_account: "6004", scopes: messageScopes },
    { token: "limited-own", type: "social_user", app: "1001", social_account: "6005", scopes: messageScopes, data_access_expires_at: 1_795_003_600 },
    { token: "half-scoped", type: "page", app: "1001", page: "2001", scopes: ["social_business_basic"] },
    { token: "old", type: "page", app: "1001", page: "2001", scopes: messageScopes, expires_at: 1_790_000_000 },
    { token: "other-apps", type: "page", app: "1002", page: "2001", scopes: messageScopes },
    { token: "person", type: "user", app: "1001", user: "3001", scopes: messageScopes },
  ],
};

type Sent = { bearer?: string; to?: string; surface?: "base" | "social_login"; message?: unknown };

const send = (plaza: TestPlaza, { bearer = "cafe-page", to = "6901", surface = "base", message = { text: "hello" } }: Sent = {}) =>
  plaza.post(`/v26.0/${to}/messages`, { surface, bearer, body: { message } });

const problem = ({ status, body }: { status: number; body: { error: { code: number; error_subcode?: number } } }) => [
  status,
  body.error.code,
  body.error.error_subcode,
];

async function open(options: Parameters<typeof openPlaza>[0], fields = ["messages"]): Promise<{ plaza: TestPlaza; receiver: Receiver }> {
  const plaza = await openPlaza({ world, ...options });
  const receiver = startReceiver();
  await changeEntry(plaza, "apps", "1001", { callback: { url: receiver.url }, subscriptions: [{ object: "social", fields }] });
  return { plaza, receiver };
}

async function received(plaza: TestPlaza, { posts }: Receiver): Promise<{ object: string; entry: Record<string, unknown>[] }[]> {
  await plaza.world.work.runDue();
  return posts.splice(0).map(({ body }) => JSON.parse(body));
}

onEachDatabase("self messaging", (database) => {
  test("D1, HOOK-4 to HOOK-9: a message to oneself returns its id and sends exactly this echo", async () => {
    const { plaza, receiver } = await open({ database });
    const { status, body } = await send(plaza, { message: { text: "grüße 😀" } });
    expect(status).toBe(200);
    expect(body).toEqual({ id: expect.stringMatching(/^[1-9]\d*$/) });
    expect(await received(plaza, receiver)).toEqual([
      {
        object: "social",
        entry: [
          {
            id: "6001",
            time: 1_795_000_000,
            messaging: [
              {
                sender: { id: "6001" },
                recipient: { id: "6901" },
                timestamp: 1_795_000_000_000,
                message: { mid: body.id, text: "grüße 😀", is_echo: true, is_self: true },
              },
            ],
          },
        ],
      },
    ]);
  });

  test("D1-2, D1-3, SELF-6 to SELF-9: the main host accepts only page tokens, the social login host only the account's own", async () => {
    const { plaza, receiver } = await open({ database });
    expect((await send(plaza)).status).toBe(200);
    expect((await send(plaza, { bearer: "cafe-own", surface: "social_login" })).status).toBe(200);
    expect(problem(await send(plaza, { bearer: "cafe-own" }))).toEqual([401, 190, undefined]);
    expect(problem(await send(plaza, { surface: "social_login" }))).toEqual([401, 190, undefined]);
    // D-133: Plaza checks whether the token belongs to the flow of the host before it checks the message and the scopes.
    const message = { text: "" };
    expect(problem(await send(plaza, { bearer: "cafe-own", message }))).toEqual([401, 190, undefined]);
    expect(problem(await send(plaza, { surface: "social_login", message }))).toEqual([401, 190, undefined]);
    expect(problem(await send(plaza, { bearer: "half-scoped", surface: "social_login" }))).toEqual([401, 190, undefined]);
    expect(problem(await send(plaza, { message }))).toEqual([400, 100, undefined]);
    const elsewhere = await plaza.post("/v26.0/6901/messages", { surface: "ads", bearer: "cafe-page", body: { message: { text: "x" } } });
    expect(problem(elsewhere)).toEqual([400, 100, 33]);
    expect(await received(plaza, receiver)).toHaveLength(1);
  });

  test("D-11: an app whose access to the person's data has ended can still send, and gets no webhook of it", async () => {
    const { plaza, receiver } = await open({ database });
    const sendLimited = () => send(plaza, { bearer: "limited-own", to: "6905", surface: "social_login" });
    expect((await sendLimited()).status).toBe(200);
    expect(await received(plaza, receiver)).toHaveLength(1);
    plaza.time.realMs += 3_600_000;
    await plaza.world.work.session.beat();
    expect((await sendLimited()).status).toBe(200);
    expect(await received(plaza, receiver)).toEqual([]);
  });

  test("D-52: text has 1 to 1,000 characters; a message without text, or with quick replies, is refused", async () => {
    const { plaza, receiver } = await open({ database });
    for (const text of ["x", "😀".repeat(1_000)]) expect((await send(plaza, { message: { text } })).status).toBe(200);
    expect((await send(plaza, { message: '{"text":"as JSON text"}' })).status).toBe(200);
    expect((await send(plaza, { message: { text: "x", quick_replies: [] } })).status).toBe(200);
    await received(plaza, receiver);
    const wrong: [unknown, string][] = [
      [undefined, "message"],
      ["hello", "message"],
      [{}, "message.text"],
      [{ text: "" }, "message.text"],
      [{ text: "x".repeat(1_001) }, "message.text"],
      [{ text: ["x"] }, "message.text"],
      [{ text: "a\u0000b" }, "message.text"],
      [{ attachment: { type: "image" } }, "message.text"],
      [{ text: "x", quick_replies: [{ content_type: "text", title: "yes", payload: "y" }] }, "message.quick_replies"],
      [{ text: "x", quick_replies: "yes" }, "message.quick_replies"],
    ];
    for (const [message, parameter] of wrong) {
      const { status, body } = await plaza.post("/v26.0/6901/messages", { bearer: "cafe-page", body: { message } });
      expect({ message, status, code: body.error.code, parameter: body.error.error_data.parameter }).toEqual({
        message,
        status: 400,
        code: 100,
        parameter,
      });
    }
    expect(await received(plaza, receiver)).toEqual([]);
  });

  test("D-52: another account's social-scoped id is refused like a missing one", async () => {
    const { plaza, receiver } = await open({ database });
    const strangers: Sent[] = [{ to: "6902" }, { bearer: "bar-page" }, { bearer: "bar-own", surface: "social_login" }];
    for (const sent of strangers) {
      const [others, missing] = [await send(plaza, sent), await send(plaza, { ...sent, to: "6999" })];
      const { pftrace_id: _, ...error } = missing.body.error;
      expect(problem(others)).toEqual([400, 100, 33]);
      expect(others.body.error).toMatchObject({ ...error, message: error.message.replace("6999", sent.to ?? "6901") });
    }
    for (const to of ["6001", "2001"]) expect(problem(await send(plaza, { to }))).toEqual([400, 100, 33]);
    expect((await send(plaza, { bearer: "bar-own", to: "6902", surface: "social_login" })).status).toBe(200);
    await received(plaza, receiver);
    await removeEntry(plaza, "social_accounts", "6001");
    expect(problem(await send(plaza))).toEqual([400, 100, 33]);
    expect(await received(plaza, receiver)).toEqual([]);
  });

  test("AUTH-8, SELF-10, SELF-11: a bearer token of the account or its page with both scopes is accepted; others are refused and nothing is sent", async () => {
    const { plaza, receiver } = await open({ database });
    const refused: [string, number, number][] = [
      ["half-scoped", 403, 10],
      ["no-scope", 403, 10],
      ["old", 401, 190],
      ["unknown", 401, 190],
      ["person", 400, 100],
      ["app", 400, 100],
    ];
    for (const [bearer, status, code] of refused) {
      const response = await send(plaza, { bearer });
      expect({ bearer, status: response.status, code: response.body.error.code }).toEqual({ bearer, status, code });
    }
    const body = { message: { text: "x" } };
    expect(problem(await plaza.post("/v26.0/6901/messages", { query: { access_token: "cafe-page" }, body }))).toEqual([401, 104, undefined]);
    expect(problem(await plaza.post("/v26.0/6901/messages", { body }))).toEqual([401, 104, undefined]);
    expect(problem(await plaza.get("/v26.0/6901/messages", { bearer: "cafe-page" }))).toEqual([400, 100, 33]);
    expect(await received(plaza, receiver)).toEqual([]);
  });

  test("SELF-4, SELF-5, SELF-17, SELF-18: D1 is refused unless all conditions of self messaging hold", async () => {
    const { plaza, receiver } = await open({ database });
    const own = (name: string, to: string) => send(plaza, { bearer: `${name}-own`, to, surface: "social_login" });
    for (const response of [await own("private", "6903"), await own("unconnected", "6904")]) expect(problem(response)).toEqual([403, 200, undefined]);
    await changeEntry(plaza, "apps", "1001", { messaging_access: false });
    expect(problem(await send(plaza))).toEqual([403, 200, undefined]);
    await changeEntry(plaza, "apps", "1001", { messaging_access: true, access_level: "standard" });
    expect(problem(await send(plaza))).toEqual([403, 200, undefined]);
    expect(await received(plaza, receiver)).toEqual([]);
    await changeEntry(plaza, "apps", "1001", { roles: [{ user: "3001", role: "tester" }] });
    expect((await send(plaza)).status).toBe(200);
    expect(problem(await send(plaza, { bearer: "bar-page", to: "6902" }))).toEqual([403, 200, undefined]);
    expect(await received(plaza, receiver)).toHaveLength(1);
  });

  test("D1-11: an account may write to itself at any time", async () => {
    const { plaza, receiver } = await open({ database });
    plaza.time.realMs += 400 * 86_400_000;
    await plaza.world.work.session.beat();
    expect((await send(plaza)).status).toBe(200);
    expect((await received(plaza, receiver))[0]?.entry[0]?.time).toBe(1_795_000_000 + 400 * 86_400);
  });

  test("D-52: every onboarded app receives the echo, whichever app sent the message", async () => {
    const { plaza, receiver } = await open({ database });
    const other = startReceiver();
    await changeEntry(plaza, "apps", "1002", { callback: { url: other.url }, subscriptions: [{ object: "social", fields: ["messages"] }] });
    const { body } = await send(plaza, { bearer: "other-apps" });
    const midOf = async (at: Receiver) => (await received(plaza, at)).map(({ entry }) => JSON.stringify(entry).match(/"mid":"(\d+)"/)?.[1]);
    expect(await midOf(receiver)).toEqual([body.id]);
    expect(await midOf(other)).toEqual([body.id]);
  });

  test("SELF-19: an app that is not subscribed to the field may send but gets no webhook", async () => {
    const { plaza, receiver } = await open({ database }, ["comments"]);
    expect((await send(plaza)).status).toBe(200);
    expect(await received(plaza, receiver)).toEqual([]);
  });
});
