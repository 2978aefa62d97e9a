import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import { startReceiver } from "#harness/receiver";
import { everyValue } from "#harness/search/stored-values";

/** The ids of Ada, who is erased. Bob, whose ids are in the next constant, is not erased. */
const ada = {
  user: "7203685477580001",
  psid: "7203685477580002",
  account: "7203685477580003",
  scoped: "7203685477580004",
  phone: "+4915112345678",
  device: "A1B2C3D4-0000-4000-8000-00000000ADA0",
};
const bob = { user: "7203685477589001", psid: "7203685477589002", phone: "+4915187654321", device: "B1B2C3D4-0000-4000-8000-00000000B0B0" };
/** Each test text about a person contains a word that only this person's data have. */
const [ADA, BOB] = ["ADAS-TEXT", "BOBS-TEXT"];
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

const worldAt = (url: string) => ({
  apps: [
    {
      id: "1001",
      secret: "s3cret",
      callback: { url },
      subscriptions: [{ object: "chatapp_business_account", fields: ["messages"] }],
      roles: [
        { user: ada.user, role: "administrator" },
        { user: bob.user, role: "developer" },
      ],
    },
  ],
  users: [
    { id: ada.user, name: `${ADA} name` },
    { id: bob.user, name: `${BOB} name` },
  ],
  businesses: [{ id: "3501", name: "Agency" }],
  pages: [
    {
      id: "2001",
      people: [
        { psid: ada.psid, name: `${ADA} on the page` },
        { psid: bob.psid, name: `${BOB} on the page` },
      ],
      roles: [{ user: ada.user, tasks: ["MESSAGING"] }],
    },
  ],
  labels: [{ id: "5001", page: "2001", name: "vip", users: [ada.psid, bob.psid] }],
  social_accounts: [{ id: ada.account, username: `${ADA}.account`.toLowerCase(), social_scoped_id: ada.scoped, user: ada.user }],
  live_videos: [{ id: "5301", page: "2001", title: "Opening" }],
  live_comments: [
    { id: "9901", live_video: "5301", from: ada.user, message: `${ADA} comment` },
    { id: "9902", live_video: "5301", from: bob.user, message: `${BOB} comment` },
  ],
  live_reactions: [{ live_video: "5301", from: ada.user }],
  chatapp_accounts: [{ id: "4001", subscribed_apps: [{ app: "1001" }] }],
  phone_numbers: [{ id: "4101", account: "4001" }],
  ads: [{ id: "8501", app: "1001" }],
  tokens: [{ token: "adas-token", type: "user", app: "1001", user: ada.user }],
});

onEachDatabase("D-172: a person is erased", (database) => {
  const open = async () => {
    const receiver = startReceiver();
    const control = await openControl({ database, world: worldAt(receiver.url) });
    const { plaza, request } = control;
    const message = (phone: string, text: string) =>
      request("POST", "in-app/chatapp", { account: "4001", field: "messages", value: { messages: [{ from: phone, text: { body: text } }] } });
    const report = (device: string, external: string, text: string) =>
      plaza.post("/v26.0/1001/activities", {
        bearer: "1001|s3cret",
        headers: { "x-forwarded-for": "203.0.113.7" },
        body: {
          event: "CUSTOM_APP_EVENTS",
          advertiser_id: device,
          advertiser_tracking_enabled: "1",
          application_tracking_enabled: "1",
          ud: { external_id: sha256(external) },
          custom_events: JSON.stringify([{ _eventName: "search", note: text }]),
        },
      });
    const erase = async (id: string) => {
      const begun = await request("DELETE", `people/${encodeURIComponent(id)}`);
      expect(begun).toMatchObject({ status: 200, body: { status: "running" } });
      await plaza.world.work.runDue();
      return (await request("GET", `erasures/${begun.body.id}`)).body;
    };
    const held = async (needle: string) =>
      (await everyValue(plaza.world.database)).filter(({ text }) => text.toLowerCase().includes(needle.toLowerCase()));
    return { ...control, receiver, message, report, erase, held };
  };

  test("nothing in the database names them or contains a text of theirs; everything of others stays", async () => {
    const { plaza, request, receiver, message, report, erase, held } = await open();
    // The stored response of the receiver may repeat the webhook's body.
    receiver.response = ({ body }) => new Response(body.slice(0, 200), { status: body.includes("waits") ? 500 : 200 });
    await message(ada.phone, `${ADA} delivered`);
    await message(bob.phone, `${BOB} delivered`);
    await plaza.world.work.runDue();
    await message(ada.phone, `${ADA} waits`);
    await plaza.world.work.runDue();
    for (const [device, who, text] of [
      [ada.device, ada.user, ADA],
      [bob.device, bob.user, BOB],
    ] as const) {
      expect((await report(device, who, `${text} searched`)).status).toBe(200);
      await request("POST", "attribution/clicks", { ad: "8501", advertiser_id: device, time: 1_794_990_000 });
    }
    const ids = Object.values(ada);
    for (const id of ids) expect((await held(id)).length).toBeGreaterThan(0);
    expect((await held(sha256(ada.user))).length).toBeGreaterThan(0);
    const of = { bob: await held(BOB), sent: receiver.posts.length };
    plaza.world.requests.add({
      ...{ trace_id: "t", operation: "sendMessage", method: "POST", surface: "base", path: "/v26.0/2001/messages", query: "", status: 200 },
      ...{
        time: 1_795_000_000_000,
        duration_ms: 1,
        app: "1001",
        request_body: JSON.stringify({ recipient: ada.psid, text: ADA }),
        response_body: "{}",
      },
    });
    expect(JSON.stringify((await request("GET", "requests")).body)).toContain(ADA);

    plaza.world.unserved?.note({ kind: "edge", method: "GET", name: ADA }, { app: "1001", timeMs: 1, trace_id: "t" });

    expect((await erase(ada.user)).erased).toEqual({ users: 1, "app events": 1 });
    expect((await erase(ada.psid)).erased).toEqual({ people: 1 });
    expect((await erase(ada.account)).erased).toEqual({ "social accounts": 1 });
    expect((await erase(ada.phone)).erased).toEqual({ "webhook events": 2, "webhook responses": 2 });
    expect(await erase(ada.device)).toMatchObject({ status: "done", erased: { "ad touches": 1 }, ended_at: 1_795_000_000 });

    for (const needle of [ADA, ...ids, sha256(ada.user)]) expect({ needle, held: await held(needle) }).toEqual({ needle, held: [] });
    expect(await held(BOB)).toEqual(of.bob);
    for (const id of Object.values(bob)) expect((await held(id)).length).toBeGreaterThan(0);
    for (const list of ["requests", "unserved"]) expect(JSON.stringify((await request("GET", list)).body)).not.toContain(ADA);

    // After the erasure, waiting deliveries are not sent, and past deliveries cannot be replayed.
    plaza.time.realMs += 3_600_000;
    await plaza.world.work.runDue();
    await request("POST", "deliveries/replay", { since: 0 });
    await plaza.world.work.runDue();
    expect(receiver.posts.slice(of.sent).map(({ body }) => body.includes(BOB) && !body.includes(ADA))).toEqual([true]);
    expect((await request("GET", "erasures")).body.data).toHaveLength(5);
  });

  test("a user who is deleted as a node is erased, too; an interrupted erasure continues", async () => {
    const { plaza, request, message, held } = await open();
    await message(ada.user, `${ADA} names the user`);
    await plaza.world.work.runDue();
    const { database: store, work } = plaza.world;
    const write = store.write.bind(store);
    const deleted = await request("DELETE", `nodes/users/${ada.user}`);
    expect(deleted).toMatchObject({ status: 200, body: { success: true } });
    for (let failing = 1; failing < 5; failing++) {
      let count = 0;
      Object.assign(store, {
        write: async (body: Parameters<typeof write>[0]) => {
          if (count++ === failing) throw new Error("the process ended here");
          return write(body);
        },
      });
      await work.runDue().catch(() => {});
      Object.assign(store, { write });
      plaza.time.realMs += 3_600_000;
    }
    await work.runDue();
    expect((await request("GET", `erasures/${deleted.body.erasure}`)).body).toMatchObject({ status: "done", erased: { users: 1 } });
    expect(await held(ada.user)).toEqual([]);
    expect(await held("names the user")).toEqual([]);
  });

  test("its times are those of the world's clock, in seconds", async () => {
    const { plaza, erase } = await open();
    plaza.time.realMs += 999;
    expect(await erase("nobody-at-all")).toMatchObject({ started_at: 1_795_000_000, ended_at: 1_795_000_000 });
  });

  test("an id that is not a person's, or too short, is refused; an unknown person has no data", async () => {
    const { request, erase } = await open();
    expect(await request("DELETE", "people/2001")).toMatchObject({ status: 409, body: { error: { parameter: "id" } } });
    expect(await request("DELETE", "people/123")).toMatchObject({ status: 400, body: { error: { parameter: "id" } } });
    expect((await erase("nobody-at-all")).erased).toEqual({});
    expect((await request("GET", "erasures/1")).status).toBe(404);
    expect((await request("GET", "nodes/users")).body.data).toHaveLength(2);
  });
});
