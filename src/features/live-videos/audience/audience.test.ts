import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { cafe } from "#harness/worlds";

const scopes = ["pages_manage_posts", "pages_read_engagement"];
const liveWorld = {
  ...cafe,
  pages: [...cafe.pages, { id: "2003", name: "Club", roles: [{ user: "3001", tasks: ["CREATE_CONTENT"] }] }],
  live_videos: [
    { id: "5301", page: "2001", status: "LIVE", crossposted_pages: ["2003"] },
    { id: "5302", page: "2001" },
    { id: "5303", page: "2001", status: "VOD" },
  ],
  live_comments: [{ id: "5401", live_video: "5303", from: "3002", message: "first", created_time: 1_794_000_000 }],
  live_reactions: [{ live_video: "5303", from: "3002", type: "WOW", time: 1_794_000_000 }],
  tokens: [
    ...cafe.tokens,
    { token: "author", type: "page", app: "1001", page: "2001", scopes },
    { token: "author-of-ada", type: "page", app: "1001", page: "2001", user: "3001", scopes },
    { token: "club-live", type: "page", app: "1001", page: "2003", scopes },
    { token: "ada-live", type: "user", app: "1001", user: "3001", scopes },
  ],
};

onEachDatabase("comments and reactions", (database) => {
  const open = () => openPlaza({ database, world: liveWorld });
  const list = async (plaza: TestPlaza, path: string, query: Record<string, string> = {}) =>
    (await plaza.get(`/v26.0/${path}`, { bearer: "author", query })).body.data;
  const comment = (plaza: TestPlaza, message: unknown, bearer = "author", id = "5301") =>
    plaza.post(`/v26.0/${id}/comments`, { bearer, body: { message } });
  const react = (plaza: TestPlaza, type: unknown, bearer = "author", id = "5301") => plaza.post(`/v26.0/${id}/reactions`, { bearer, body: { type } });

  test("D-51: comments are listed newest first, from the page or the person of the token", async () => {
    const plaza = await open();
    const first = (await comment(plaza, "hello 😀")).body.id;
    const second = (await comment(plaza, "and I", "ada-live")).body.id;
    expect(await list(plaza, "5301/comments")).toEqual([
      { id: second, message: "and I", from: { id: "3001" }, created_time: "2026-11-18T11:06:40+0000" },
      { id: first, message: "hello 😀", from: { id: "2001", name: "Cafe" }, created_time: "2026-11-18T11:06:40+0000" },
    ]);
    expect(await list(plaza, "5301/comments", { limit: "1", fields: "message" })).toEqual([{ id: second, message: "and I" }]);
    // A comment with a page token is a comment of the page, even if the token belongs to a person.
    const third = (await comment(plaza, "all of us", "author-of-ada")).body.id;
    expect(await list(plaza, "5301/comments", { limit: "1", fields: "from" })).toEqual([{ id: third, from: { id: "2001", name: "Cafe" } }]);
    for (const wrong of ["", "x".repeat(8_001), "a\u0000", { a: 1 }])
      expect((await comment(plaza, wrong)).body.error.error_data.parameter).toBe("message");
  });

  test("D-51: each actor has one reaction; a later one replaces it", async () => {
    const plaza = await open();
    expect((await react(plaza, "LIKE")).body).toEqual({ success: true });
    plaza.time.realMs += 1_000;
    await react(plaza, "LOVE", "ada-live");
    plaza.time.realMs += 1_000;
    await react(plaza, "HAHA", "author-of-ada");
    expect(await list(plaza, "5301/reactions")).toEqual([
      { id: "2001", type: "HAHA" },
      { id: "3001", type: "LOVE" },
    ]);
    expect((await list(plaza, "5301/reactions", { fields: "from" }))[0].from).toEqual({ id: "2001", name: "Cafe" });
    expect((await react(plaza, "BOO")).body.error.error_data.parameter).toBe("type");
  });

  test("LIVE-26: only the original page has comments and reactions", async () => {
    const plaza = await open();
    expect((await plaza.get("/v26.0/5301", { bearer: "club-live" })).status).toBe(200);
    for (const response of [
      await comment(plaza, "from the club", "club-live"),
      await react(plaza, "LIKE", "club-live"),
      await plaza.get("/v26.0/5301/comments", { bearer: "club-live" }),
      await plaza.get("/v26.0/5301/reactions", { bearer: "club-live" }),
    ]) {
      expect(response).toMatchObject({ status: 400, body: { error: { error_subcode: 33 } } });
    }
    expect(await list(plaza, "5301/comments")).toEqual([]);
  });

  test("D-113: a video that was never published accepts none; a VOD does", async () => {
    const plaza = await open();
    for (const response of [await comment(plaza, "x", "author", "5302"), await react(plaza, "LIKE", "author", "5302")]) {
      expect(response).toMatchObject({ status: 400, body: { error: { code: 100 } } });
    }
    await comment(plaza, "late", "author", "5303");
    expect((await list(plaza, "5303/comments")).map(({ message }: { message: string }) => message)).toEqual(["late", "first"]);
    expect(await list(plaza, "5303/reactions")).toEqual([{ id: "3002", type: "WOW" }]);
  });

  test("D-21: a comment is not read by its id", async () => {
    const plaza = await open();
    expect((await plaza.get("/v26.0/5401", { bearer: "author" })).body.error.error_subcode).toBe(33);
  });
});
