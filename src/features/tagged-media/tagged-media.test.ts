import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { changeEntry, expectRoundTrip, insertEntry, removeEntry } from "#harness/sections";
import { cafe } from "#harness/worlds";

const scopes = ["social_basic", "social_manage_comments", "pages_read_engagement"];
const media = (id: number, more: Record<string, unknown> = {}) => ({
  id: String(id),
  owner: "6002",
  tagged: ["6001"],
  timestamp: "2026-11-01T10:00:00+0000",
  ...more,
});

const world = {
  ...cafe,
  pages: [...cafe.pages, { id: "2003", roles: [{ user: "3002", tasks: ["MODERATE"], via_business: true }] }],
  social_accounts: [
    { id: "6001", username: "cafe", social_scoped_id: "6901", page: "2001", user: "3001", app_connections: ["1001"] },
    { id: "6002", username: "fan", page: "2002" },
    { id: "6003", username: "third", page: "2003" },
  ],
  media: [
    media(6101, { caption: "hi", media_url: "https://example.com/1.jpg", like_count: 3, children: ["6102"], media_type: "CAROUSEL_ALBUM" }),
    media(6102, { timestamp: "2026-11-02T10:00:00+0000" }),
    media(6103, { private: true, timestamp: "2026-11-03T10:00:00+0000" }),
    media(6104, { owner: "6001", tagged: ["6001", "6002"] }),
    media(6105),
    media(6106, { tagged: ["6003"] }),
  ],
  tokens: [
    ...cafe.tokens,
    { token: "fan-of-tags", type: "user", app: "1001", user: "3001", scopes },
    { token: "few-tasks", type: "user", app: "1001", user: "3002", scopes },
    { token: "with-ads", type: "user", app: "1001", user: "3002", scopes: [...scopes, "ads_read"] },
    { token: "two-scopes", type: "user", app: "1001", user: "3001", scopes: scopes.slice(0, 2) },
    { token: "stranger", type: "user", app: "1001", user: "3003", scopes },
  ],
};

const tags = (plaza: TestPlaza, query: Record<string, unknown> = {}, account = "6001") =>
  plaza.get(`/v26.0/${account}/tags`, { query: { access_token: "fan-of-tags", ...query } });

onEachDatabase("tagged media", (database) => {
  const open = (options = {}) => openPlaza({ database, world, ...options });

  test("E1, D-53: public media in which others tagged the account are listed newest first, by their time and then by id, by default with ids only", async () => {
    const { status, body } = await tags(await open());
    expect(status).toBe(200);
    expect(body).toEqual({
      data: [{ id: "6102" }, { id: "6105" }, { id: "6101" }],
      paging: { cursors: { before: expect.any(String), after: expect.any(String) } },
    });
  });

  test("E1: private and removed children of a public album are omitted", async () => {
    const plaza = await open();
    await changeEntry(plaza, "media", "6101", { children: ["6103", "6102", "6105"] });
    const children = async () => (await tags(plaza, { fields: "children" })).body.data.find(({ id }: { id: string }) => id === "6101").children;
    expect(await children()).toEqual({ data: [{ id: "6102" }, { id: "6105" }] });
    await removeEntry(plaza, "media", "6102");
    expect(await children()).toEqual({ data: [{ id: "6105" }] });
    await expectRoundTrip(plaza);
  });

  test("E1: an album contains only its owner's media, even if another account's media has the id of a removed child", async () => {
    const plaza = await open();
    const children = async () => (await tags(plaza, { fields: "children" })).body.data.find(({ id }: { id: string }) => id === "6101").children;
    expect(await children()).toEqual({ data: [{ id: "6102" }] });
    await removeEntry(plaza, "media", "6102");
    await insertEntry(plaza, "media", { id: "6102", owner: "6003" });
    expect(await children()).toBeUndefined();
    await expectRoundTrip(plaza);
  });

  test("E1, D-53: every field can be selected", async () => {
    const fields =
      "id,username,caption,media_type,media_product_type,media_url,like_count,comments_count,timestamp,owner,children,permalink,shortcode,thumbnail_url";
    const { body } = await tags(await open(), { fields });
    expect(body.data[2]).toEqual({
      id: "6101",
      username: "fan",
      caption: "hi",
      media_type: "CAROUSEL_ALBUM",
      media_product_type: "FEED",
      media_url: "https://example.com/1.jpg",
      like_count: 3,
      comments_count: 0,
      timestamp: "2026-11-01T10:00:00+0000",
      owner: { id: "6002" },
      children: { data: [{ id: "6102" }] },
    });
    expect((await tags(await open(), { fields: "place" })).body.error.code).toBe(100);
  });

  test("LIST-14, D-35: pages are full and have only cursors; the end is a page without items", async () => {
    const plaza = await open();
    const first = (await tags(plaza, { limit: "2" })).body;
    expect(first.data).toEqual([{ id: "6102" }, { id: "6105" }]);
    expect(Object.keys(first.paging)).toEqual(["cursors"]);
    expect(Object.keys(first.paging.cursors)).toEqual(["before", "after"]);
    const second = (await tags(plaza, { limit: "2", after: first.paging.cursors.after })).body;
    expect(second.data).toEqual([{ id: "6101" }]);
    expect(Object.keys(second.paging.cursors)).toEqual(["before", "after"]);
    const end = (await tags(plaza, { limit: "2", after: second.paging.cursors.after })).body;
    expect(end).toEqual({ data: [], paging: { cursors: {} } });
    expect((await tags(plaza, { limit: "2", before: second.paging.cursors.before })).body.data).toEqual(first.data);
  });

  test("AUTH-9 to AUTH-14: scopes, tasks, the business tool, and the place of the token are checked", async () => {
    const plaza = await open();
    const as = async (access_token: string, account?: string) => {
      const { status, body } = await tags(plaza, { access_token }, account);
      return [status, body.error?.code];
    };
    expect(await as("two-scopes")).toEqual([403, 10]);
    expect(await as("few-tasks")).toEqual([403, 200]);
    expect(await as("stranger")).toEqual([400, 100]);
    expect(await as("page")).toEqual([401, 190]);
    expect(await as("few-tasks", "6003")).toEqual([403, 10]);
    expect(await as("with-ads", "6003")).toEqual([200, undefined]);
    const bearer = await plaza.get("/v26.0/6001/tags", { bearer: "fan-of-tags" });
    expect(bearer).toMatchObject({ status: 401, body: { error: { code: 104 } } });
  });

  test("E1-6, D-53: an account that is not professional is refused with every token like a missing one", async () => {
    const plaza = await open();
    await changeEntry(plaza, "social_accounts", "6001", { professional: false });
    for (const access_token of ["fan-of-tags", "two-scopes", "page", "app"]) {
      const [consumer, missing] = [await tags(plaza, { access_token }), await tags(plaza, { access_token }, "6999")];
      const { pftrace_id: _, ...error } = missing.body.error;
      expect(consumer).toMatchObject({ status: missing.status, body: { error: { ...error, message: error.message.replace("6999", "6001") } } });
    }
    await changeEntry(plaza, "social_accounts", "6001", { professional: true });
    expect((await tags(plaza)).status).toBe(200);
  });

  test("E1: creating, updating and deleting on the edge are unsupported", async () => {
    const plaza = await open();
    for (const method of ["POST", "DELETE", "PUT"]) {
      const { status, body } = await plaza.request(method, "/v26.0/6001/tags", { query: { access_token: "fan-of-tags" } });
      expect({ status, body }).toMatchObject({ status: 400, body: { error: { error_subcode: 33 } } });
    }
  });
});
