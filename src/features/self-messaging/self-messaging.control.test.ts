import { expect, test } from "bun:test";
import { openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import { startReceiver } from "#harness/receiver";

const scopes = ["social_business_basic", "social_business_manage_messages", "social_business_manage_comments"];
const worldAt = (url: string) => ({
  users: [{ id: "3001" }],
  pages: [{ id: "2001" }, { id: "2002" }],
  live_videos: [
    { id: "5301", page: "2001", status: "LIVE" },
    { id: "5302", page: "2001", status: "UNPUBLISHED" },
    { id: "5303", page: "2002", status: "LIVE" },
  ],
  apps: [
    { id: "1001", secret: "s3cret", callback: { url }, subscriptions: [{ object: "social", fields: ["messages", "comments", "live_comments"] }] },
  ],
  social_accounts: [
    { id: "6001", username: "cafe", social_scoped_id: "6901", user: "3001", page: "2001", app_connections: ["1001"] },
    { id: "6002", username: "guest", social_scoped_id: "6902" },
    { id: "6003", username: "unreachable" },
  ],
  media: [{ id: "6101", owner: "6001", media_type: "IMAGE", media_product_type: "FEED", comments_count: 2 }],
  tokens: [{ token: "own", type: "social_user", app: "1001", social_account: "6001", scopes }],
});

onEachDatabase("a person's actions in the app", (database) => {
  async function open() {
    const receiver = startReceiver();
    const control = await openControl({ database, world: worldAt(receiver.url) });
    const act = (what: string, body: object) => control.request("POST", `in-app/${what}`, body);
    const received = async () => {
      await control.plaza.world.work.runDue();
      return receiver.posts.splice(0).flatMap(({ body }) => JSON.parse(body).entry);
    };
    return { ...control, act, received };
  }

  test("HOOK-19, HOOK-4 to HOOK-9: a message to oneself in the app causes the echo, with the id that D1 accepts", async () => {
    const { act, received } = await open();
    const { status, body } = await act("self-message", { social_account: "6001", text: "hi" });
    expect(status).toBe(200);
    const messaging = [
      {
        sender: { id: "6001" },
        recipient: { id: "6901" },
        timestamp: 1_795_000_000_000,
        message: { mid: body.id, text: "hi", is_echo: true, is_self: true },
      },
    ];
    expect(await received()).toEqual([{ id: "6001", time: 1_795_000_000, messaging }]);
  });

  test("HOOK-10 to HOOK-13: pressing a button causes the postback, flagged is_self", async () => {
    const { act, received } = await open();
    const postback = { title: "Yes", payload: "YES_1", mid: "123" };
    expect((await act("postback", { social_account: 6001, ...postback })).body).toEqual({ success: true });
    const messaging = [{ sender: { id: "6901" }, recipient: { id: "6001" }, timestamp: 1_795_000_000_000, is_self: true, postback }];
    expect(await received()).toEqual([{ id: "6001", time: 1_795_000_000, messaging }]);
  });

  test("HOOK-14 to HOOK-18, D-52: a comment on one's own post has the social-scoped id, another's does not; it is counted", async () => {
    const { act, received, request } = await open();
    const media = { id: "6101", media_product_type: "FEED" };
    for (const [what, field] of [
      ["comment", "comments"],
      ["live-comment", "live_comments"],
    ] as const) {
      const own = await act(what, { social_account: "6001", media: "6101", text: "mine" });
      const others = await act(what, { social_account: "6002", media: "6101", text: "theirs" });
      const change = (from: object, id: string, text: string) => ({ field, value: { from, id, text, media } });
      expect((await received()).flatMap(({ changes }) => changes)).toEqual([
        change({ id: "6001", username: "cafe", self_social_scoped_id: "6901" }, own.body.id, "mine"),
        change({ id: "6002", username: "guest" }, others.body.id, "theirs"),
      ]);
    }
    expect((await request("GET", "nodes/media/6101")).body.comments_count).toBe(6);
  });

  test("SELF-16, D-134: a comment on a live video is an event of the account of its page", async () => {
    const { act, received } = await open();
    const media = { id: "5301", media_product_type: "LIVE" };
    const own = await act("live-comment", { social_account: "6001", live_video: "5301", text: "mine" });
    const others = await act("live-comment", { social_account: "6002", live_video: 5301, text: "theirs" });
    const change = (from: object, id: string, text: string) => ({ field: "live_comments", value: { from, id, text, media } });
    const entries = await received();
    expect(entries.map(({ id }) => id)).toEqual(["6001"]);
    expect(entries.flatMap(({ changes }) => changes)).toEqual([
      change({ id: "6001", username: "cafe", self_social_scoped_id: "6901" }, own.body.id, "mine"),
      change({ id: "6002", username: "guest" }, others.body.id, "theirs"),
    ]);
  });

  test("if a page has several accounts, a live video belongs to its author's own", async () => {
    const { act, received, request } = await open();
    await request("POST", "nodes/social_accounts", {
      id: "6009",
      username: "cafe two",
      social_scoped_id: "6909",
      page: "2001",
      app_connections: ["1001"],
    });
    await request("POST", "tokens", { type: "social_user", app: "1001", social_account: "6009", scopes });
    await act("live-comment", { social_account: "6009", live_video: "5301", text: "mine" });
    await act("live-comment", { social_account: "6002", live_video: "5301", text: "theirs" });
    expect((await received()).map(({ id, changes }) => [id, changes[0].value.text]).sort()).toEqual([
      ["6001", "theirs"],
      ["6009", "mine"],
    ]);
  });

  test("the example of an event has the ids of the document", async () => {
    const { plaza, request } = await open();
    const trigger = async (field: string) => {
      const made = await request("POST", "deliveries/trigger", { object: "social", field, entity: "6001" });
      await plaza.world.work.runDue();
      return JSON.parse((await request("GET", `deliveries/${made.body.deliveries[0]}`)).body.body).entry[0];
    };
    expect((await trigger("messages")).messaging).toMatchObject([{ sender: { id: "6001" }, recipient: { id: "6901" } }]);
    for (const field of ["comments", "live_comments"]) {
      expect((await trigger(field)).changes[0].value.from).toMatchObject({ id: "6001", self_social_scoped_id: "6901" });
    }
  });

  test("D-406: the thread has what the person wrote and pressed and what the app sent, in their order, also after the clock was set back", async () => {
    const { act, plaza, request } = await open();
    const thread = async (id: string) => (await request("GET", `in-app/messages?social_account=${id}`)).body.data;
    expect(await thread("6001")).toEqual([]);
    const { id: first } = (await act("self-message", { social_account: "6001", text: "hi" })).body;
    await request("PUT", "clock", { now: 1_794_000_000, frozen: true });
    const sent = await plaza.post("/v26.0/6901/messages", { surface: "social_login", bearer: "own", body: { message: { text: "Sure?" } } });
    expect(sent.status).toBe(200);
    const mid = sent.body.id;
    await act("postback", { social_account: "6001", title: "Yes", payload: "YES_1", mid });
    await act("self-message", { social_account: "6002", text: "mine" });
    expect(await thread("6001")).toEqual([
      { mid: first, time: 1_795_000_000, text: "hi" },
      { mid, time: 1_794_000_000, app: "1001", text: "Sure?" },
      { mid, time: 1_794_000_000, text: "Yes", payload: "YES_1" },
    ]);
    expect(await thread("6003")).toEqual([]);
    expect(await request("GET", "in-app/messages?social_account=6009")).toMatchObject({
      status: 422,
      body: { error: { parameter: "social_account" } },
    });
    await request("DELETE", "nodes/social_accounts/6001");
    await request("POST", "nodes/social_accounts", { id: "6001", username: "cafe", social_scoped_id: "6901" });
    expect(await thread("6001")).toEqual([]);
    expect((await thread("6002")).length).toBe(1);
  });

  test("D-406: a full thread keeps its newest 200 messages", async () => {
    const { act, request } = await open();
    for (let n = 1; n <= 203; n++) await act("self-message", { social_account: "6001", text: String(n) });
    const { data } = (await request("GET", "in-app/messages?social_account=6001")).body;
    expect(data.map(({ text }: { text: string }) => text)).toEqual(Array.from({ length: 200 }, (_, at) => String(at + 4)));
  });

  test("a revoked token ends an app's webhooks at once", async () => {
    const { act, received, request } = await open();
    const [token] = (await request("GET", "tokens")).body.data;
    await request("DELETE", `tokens/${token.id}`);
    await act("self-message", { social_account: "6001", text: "hi" });
    expect(await received()).toEqual([]);
  });

  test("an impossible action is refused, and nothing is sent", async () => {
    const { act, received } = await open();
    const wrong: { act: string; body: object; status: number; parameter: string }[] = [
      { act: "self-message", body: { social_account: "6009", text: "x" }, status: 422, parameter: "social_account" },
      { act: "self-message", body: { social_account: "6003", text: "x" }, status: 422, parameter: "social_account" },
      { act: "self-message", body: { social_account: "6001", text: "" }, status: 400, parameter: "text" },
      { act: "self-message", body: { social_account: "6001", text: "x".repeat(1_001) }, status: 400, parameter: "text" },
      { act: "self-message", body: { social_account: "6001", text: "a\u0000b" }, status: 400, parameter: "text" },
      { act: "self-message", body: { social_account: "6001" }, status: 400, parameter: "text" },
      { act: "self-message", body: { social_account: "6001", text: "x", more: 1 }, status: 400, parameter: "more" },
      { act: "postback", body: { social_account: "6001", title: "t", payload: "p" }, status: 400, parameter: "mid" },
      { act: "comment", body: { social_account: "6001", media: "6901", text: "x" }, status: 422, parameter: "media" },
      { act: "live-comment", body: { social_account: "6001", media: "6109", text: "x" }, status: 422, parameter: "media" },
      { act: "live-comment", body: { social_account: "6001", text: "x" }, status: 400, parameter: "live_video" },
      { act: "live-comment", body: { social_account: "6001", media: "6101", live_video: "5301", text: "x" }, status: 400, parameter: "live_video" },
      { act: "live-comment", body: { social_account: "6001", live_video: "5309", text: "x" }, status: 422, parameter: "live_video" },
      { act: "live-comment", body: { social_account: "6001", live_video: "5302", text: "x" }, status: 422, parameter: "live_video" },
      { act: "live-comment", body: { social_account: "6001", live_video: "5303", text: "x" }, status: 422, parameter: "live_video" },
      { act: "comment", body: { social_account: "6001", live_video: "5301", media: "6101", text: "x" }, status: 400, parameter: "live_video" },
    ];
    for (const expected of wrong) {
      const response = await act(expected.act, expected.body);
      expect({ ...expected, status: response.status, parameter: response.body.error.parameter }).toEqual(expected);
    }
    expect(await received()).toEqual([]);
  });
});
