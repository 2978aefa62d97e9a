import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { cafe } from "#harness/worlds";
import { nodeId } from "#kernel/ids";
import { sql } from "#storage/sql";
import { repeatNotice, takeDown, transitionLiveVideo } from "./live-state.ts";
import { movesOf, withMove } from "./transitions.ts";

const scopes = ["pages_manage_posts", "pages_read_engagement"];
const callback = { url: "http://127.0.0.1:9/hook", verify_token: "v", verified: true };
const liveWorld = {
  ...cafe,
  apps: cafe.apps.map((app) => (app.id === "1001" ? { ...app, callback, subscriptions: [{ object: "page", fields: ["live_videos"] }] } : app)),
  live_videos: [
    { id: "5301", page: "2001", status: "LIVE", crossposted_pages: ["2002"] },
    { id: "5302", page: "2001", status: "VOD", crossposted_pages: ["2002"] },
  ],
  tokens: [{ token: "author", type: "page", app: "1001", page: "2001", scopes }],
};

const bearer = "author";
const WEEK_MS = 7 * 86_400_000;

onEachDatabase("webhooks of live videos", (database) => {
  test("D-62, D-110: takedown, notice, lapse, restoration and deletion are webhooks of every page that shows the video", async () => {
    const plaza = await openPlaza({ database, world: liveWorld });
    const subscribe = async (page: string) => {
      const token = await plaza.mint({
        type: "page",
        app: nodeId("1001"),
        page: nodeId(page),
        scopes: [...scopes, "pages_manage_metadata", "pages_messaging"],
      });
      await plaza.post(`/v26.0/${page}/subscribed_apps`, { bearer: token, body: { subscribed_fields: "live_videos" } });
    };
    for (const page of ["2001", "2002"]) await subscribe(page);
    const id = nodeId("5301");
    await takeDown(plaza.world, id, "INTELLECTUAL_PROPERTY");
    expect((await repeatNotice(plaza.world, id)).is).toBe("done");
    await transitionLiveVideo(plaza.world, id, "restored");
    expect((await repeatNotice(plaza.world, id)).is).toBe("refused");
    await transitionLiveVideo(plaza.world, id, "taken_down");
    plaza.time.realMs += WEEK_MS;
    await plaza.world.work.runDue();
    // The webhook of a restore notice that has lapsed is not sent again.
    expect(await repeatNotice(plaza.world, id)).toMatchObject({ is: "refused", state: { state: "lapsed", restore_notice: "lapsed" } });
    await plaza.delete("/v26.0/5302", { bearer });
    const { body } = await plaza.post("/v26.0/2001/live_videos", { bearer, body: {} });
    await plaza.delete(`/v26.0/${body.id}`, { bearer });
    const of = (status: string, event: string, takedown_reason: string, more = {}) => ({ id: "5301", status, event, takedown_reason, ...more });
    const until = { restorable_until: "2026-11-25T11:06:40+0000" };
    const ofBoth = [
      of("TAKEN_DOWN", "taken_down", "INTELLECTUAL_PROPERTY"),
      of("TAKEN_DOWN", "restore_notice", "INTELLECTUAL_PROPERTY", until),
      of("TAKEN_DOWN", "restore_notice", "INTELLECTUAL_PROPERTY", until),
      { id: "5301", status: "VOD", event: "restored" },
      of("TAKEN_DOWN", "taken_down", "COPYRIGHT"),
      of("TAKEN_DOWN", "restore_notice", "COPYRIGHT", until),
      of("TAKEN_DOWN", "restore_lapsed", "COPYRIGHT"),
      { id: "5302", status: "DELETED", event: "deleted" },
    ];
    const sent = await plaza.world.database.reader.all<{ entity: string; payload: string }>(
      sql`SELECT CAST(e.entity AS TEXT) AS entity, e.payload FROM webhook_events e ORDER BY e.id`,
    );
    const to = (page: string) => sent.filter(({ entity }) => entity === page).map(({ payload }) => JSON.parse(payload));
    expect(to("2002")).toEqual(ofBoth);
    expect(to("2001")).toEqual([...ofBoth, { id: body.id, status: "DELETED", event: "deleted" }]);
  });
});

test("the history of a live video has its last 50 entries, the oldest first, however often its encoder disconnects", () => {
  let history = "[]";
  expect(movesOf(history)).toEqual([]);
  for (let ms = 1; ms <= 50; ms++) history = withMove(history, { ms, event: ms === 1 ? "declared" : "feed_lost", state: "reconnecting" });
  expect(movesOf(history)[0]).toEqual({ ms: 1, event: "declared", state: "reconnecting" });
  expect(movesOf(history).map(({ ms }) => ms)).toEqual(Array.from({ length: 50 }, (_, at) => at + 1));
  history = withMove(history, { ms: 51, event: "feed_started", state: "live" });
  expect(movesOf(history).map(({ ms }) => ms)).toEqual(Array.from({ length: 50 }, (_, at) => at + 2));
  expect(movesOf(history).at(-1)).toEqual({ ms: 51, event: "feed_started", state: "live" });
});
