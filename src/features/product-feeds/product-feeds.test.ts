import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, requestOfLink, type TestPlaza, type TestRequest } from "#harness/plaza";
import { cafe } from "#harness/worlds";

const scopes = ["catalog_management"];
const item = (id: string, more: Record<string, unknown> = {}) => ({
  retailer_id: id,
  name: `Book ${id}`,
  image_url: `https://a.example/${id}.png`,
  url: `https://a.example/${id}`,
  ...more,
});
const items = (count: number) => Array.from({ length: count }, (_, at) => item(`b${at + 1}`));

const world = {
  ...cafe,
  catalogs: [
    { id: "8001", page: "2001", name: "Books" },
    { id: "8002", page: "2002", name: "Bar" },
  ],
  product_feeds: [
    { id: "8101", catalog: "8001", name: "seven", items: items(7) },
    { id: "8102", catalog: "8001", name: "empty" },
    { id: "8103", catalog: "8002", name: "of the bar", items: items(1) },
  ],
  tokens: [
    ...cafe.tokens,
    { token: "reader", type: "user", app: "1001", user: "3001", scopes },
    { token: "reader-of-other-app", type: "user", app: "1002", user: "3001", scopes },
    { token: "machine", type: "system_user", app: "1001", user: "3001", scopes },
    { token: "of-page", type: "page", app: "1001", page: "2001", scopes },
    { token: "of-bar", type: "page", app: "1001", page: "2002", scopes },
    { token: "unscoped", type: "user", app: "1001", user: "3001", scopes: ["pages_manage_metadata"] },
    { token: "analyst", type: "user", app: "1001", user: "3002", scopes },
    { token: "stranger", type: "user", app: "1001", user: "3003", scopes },
    { token: "expired-reader", type: "user", app: "1001", user: "3001", scopes, expires_at: 1790000000 },
  ],
};

const read = (plaza: TestPlaza, query: Record<string, unknown> = {}, request: TestRequest = {}, feed = "8101") =>
  plaza.get(`/v25.0/${feed}/articles_and_publications`, { bearer: "reader", query, ...request });
// biome-ignore lint/suspicious/noExplicitAny: a response of any kind.
const idsOf = (body: any): string[] => body.data.map(({ retailer_id }: { retailer_id: string }) => retailer_id);

const sectionOf = (plaza: TestPlaza) => {
  const section = plaza.registry.features.flatMap((feature) => feature.worldSections ?? []).find(({ key }) => key === "product_feeds");
  if (section === undefined) throw new Error("no section");
  return section;
};

onEachDatabase("product feeds", (database) => {
  const open = (options = {}) => openPlaza({ database, world, ...options });

  test("D-145: callers with access to the catalog read it, its feeds and a feed", async () => {
    const plaza = await openPlaza({ database, world });
    // The token is in the query, because a request that has only an id and a bearer header may be for a migration intent, and has errors of its own
    // (D-20).
    const get = async (path: string, access_token = "reader") => (await plaza.get(`/v25.0/${path}`, { query: { access_token } })).body;
    expect((await plaza.get("/v25.0/8001", { bearer: "reader", query: { fields: "name,vertical" } })).body).toEqual({
      ...{ id: "8001", name: "Books", vertical: "commerce" },
    });
    expect((await plaza.get("/v25.0/8101", { bearer: "of-page", query: { fields: "name,product_count" } })).body).toEqual({
      ...{ id: "8101", name: "seven", product_count: 7 },
    });
    const feeds = [
      { id: "8102", name: "empty" },
      { id: "8101", name: "seven" },
    ];
    expect((await get("8001/product_feeds")).data).toEqual(feeds);
    const first = (await plaza.get("/v25.0/8001/product_feeds", { bearer: "reader", query: { limit: "1" } })).body;
    expect(first.data).toEqual(feeds.slice(0, 1));
    const { path, query } = requestOfLink(first.paging.next);
    expect((await plaza.get(path, { bearer: "reader", query })).body.data).toEqual(feeds.slice(1));
    for (const node of ["8001", "8101", "8001/product_feeds"]) {
      expect((await get(node, "stranger")).error.error_subcode).toBe(33);
      expect((await get(node, "of-bar")).error.error_subcode).toBe(33);
      expect((await get(node, "unscoped")).error.code).toBe(10);
    }
  });

  test("G2: items are listed newest first, with paging, and a summary only on request", async () => {
    const plaza = await open();
    const { status, body } = await read(plaza, { limit: "2" });
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(["data", "paging"]);
    expect(body.data[0]).toEqual({ id: expect.stringMatching(/^\d+$/), ...item("b7") });
    expect(body.data).toHaveLength(2);
    for (const value of ["false", "0"]) expect((await read(plaza, { summary: value })).body.summary).toBeUndefined();
    for (const value of ["true", "1"]) expect((await read(plaza, { summary: value, limit: "2" })).body.summary).toEqual({ total_count: 7 });
    expect((await read(plaza, { summary: "maybe" })).body.error.error_data).toEqual({ parameter: "summary" });
    expect((await read(plaza, { summary: "true" }, {}, "8102")).body).toEqual({ data: [], paging: { cursors: {} }, summary: { total_count: 0 } });
  });

  test("G2, D-30: before, after, next and previous page through the whole feed in both directions", async () => {
    const plaza = await open();
    const first = (await read(plaza, { limit: "3", summary: "true" })).body;
    const second = (await read(plaza, { limit: "3", after: first.paging.cursors.after })).body;
    const next = requestOfLink(second.paging.next);
    const third = (await plaza.get(next.path, { bearer: "reader", query: next.query })).body;
    expect([first, second, third].flatMap(idsOf)).toEqual(["b7", "b6", "b5", "b4", "b3", "b2", "b1"]);
    expect(third.paging.next).toBeUndefined();
    expect(requestOfLink(first.paging.next).query).toMatchObject({ limit: "3", summary: "true" });
    expect(idsOf((await read(plaza, { limit: "3", before: second.paging.cursors.before })).body)).toEqual(idsOf(first));
    expect((await read(plaza, { after: "nonsense" })).body.error.error_data).toEqual({ parameter: "after" });
    expect((await read(plaza, { limit: "0" })).body.error.error_data).toEqual({ parameter: "limit" });
    const foreign = await read(plaza, { after: first.paging.cursors.after }, {}, "8102");
    expect(foreign.body.error.error_data).toEqual({ parameter: "after" });
  });

  test("G2, D-56: every field of an item can be selected", async () => {
    const more = {
      description: "A story",
      price: "12.50 EUR",
      sale_price: 9,
      brand: "Acme",
      publication_category: "ebook",
      date_published: "2026-11-01",
      author: "Ann",
      genre: "novel",
      in_language: "en",
      user_rating: 4.5,
      rating_count: 12,
      availability: "in stock",
      custom_label_0: "0",
      custom_label_4: "4",
    };
    const plaza = await open({ world: { ...world, product_feeds: [{ id: "8101", catalog: "8001", items: [item("b1", more)] }] } });
    const fields = [...Object.keys(item("b1")), ...Object.keys(more), "currency", "custom_label_1"].join(",");
    const { body } = await read(plaza, { fields });
    expect(body.data).toEqual([{ id: expect.any(String), ...item("b1"), ...more, price: "12.50", sale_price: "9", currency: "EUR" }]);
    expect((await read(plaza, { fields: "catalog" })).body.error).toMatchObject({ code: 100, error_data: { parameter: "fields", field: "catalog" } });
    expect((await read(plaza, { fields: "name.limit(2)" })).body.error.code).toBe(100);
  });

  test("G2-14 to G2-16: creating, updating and deleting on the edge are unsupported", async () => {
    const plaza = await open();
    for (const method of ["POST", "DELETE", "PUT", "PATCH"]) {
      const { status, body } = await plaza.request(method, "/v25.0/8101/articles_and_publications", { bearer: "reader" });
      expect({ status, body }).toMatchObject({ status: 400, body: { error: { code: 100, error_subcode: 33, type: "GraphMethodException" } } });
    }
    expect((await read(plaza)).body.data).toHaveLength(7);
  });

  test("AUTH-19, D-13: tokens of the catalog's business read a feed; for other tokens it does not exist", async () => {
    const plaza = await open();
    const as = async (token: string, feed?: string) => {
      const { status, body } = await read(plaza, {}, { bearer: token }, feed);
      return [status, body.error?.code, body.error?.error_subcode];
    };
    for (const token of ["reader", "reader-of-other-app", "machine", "of-page"]) expect(await as(token)).toEqual([200, undefined, undefined]);
    expect(await as("unscoped")).toEqual([403, 10, undefined]);
    for (const token of ["analyst", "stranger", "of-bar", "app"]) expect(await as(token)).toEqual([400, 100, 33]);
    expect(await as("expired-reader")).toEqual([401, 190, 463]);
    expect(await as("reader", "8103")).toEqual([400, 100, 33]);
    expect(await as("of-bar", "8103")).toEqual([200, undefined, undefined]);
    const none = await plaza.get("/v25.0/8101/articles_and_publications");
    expect(none).toMatchObject({ status: 401, body: { error: { code: 104 } } });
    // D-12: the document does not say where the token must be, so the query and the body are accepted.
    expect((await plaza.get("/v25.0/8101/articles_and_publications", { query: { access_token: "reader" } })).status).toBe(200);
    expect((await plaza.get("/v25.0/8101/articles_and_publications", { body: { access_token: "reader" } })).status).toBe(200);
  });

  test("G2-8, VER-4a: only marketing versions serve feeds, and a request without a version fails", async () => {
    const plaza = await open();
    const on = async (version: string) => {
      const { status, body } = await plaza.get(`${version}/8101/articles_and_publications`, { bearer: "reader" });
      return [status, body.error?.code];
    };
    expect(await on("/v25.0")).toEqual([200, undefined]);
    expect(await on("")).toEqual([400, 2635]);
    expect(await on("/v26.0")).toEqual([400, 2635]);
    expect(await on("/v99.0")).toEqual([400, 2500]);
  });

  test("a feed with its items and their ids is exported to a world file and loaded again", async () => {
    const plaza = await open();
    const section = sectionOf(plaza);
    const { rows } = await section.list(plaza.world.database.reader, { limit: 10 }, plaza.world);
    const again = await open({ world: { ...world, product_feeds: rows } });
    expect((await sectionOf(again).list(again.world.database.reader, { limit: 10 }, again.world)).rows).toEqual(rows);
    expect((await read(again)).body.data).toEqual((await read(plaza)).body.data);
    for (const wrong of [
      { items: [item("b1"), item("b1")] },
      { items: [item("b1", { url: "nonsense" })] },
      { items: [item("b1", { id: "2001" })] },
      { items: [item("b1", { id: "77" }), item("b2", { id: "77" })] },
      { items: [{ retailer_id: "b1" }] },
      { items: [item("b1", { isbn: "x" })] },
      { catalog: "2001" },
    ])
      await expect(open({ world: { ...world, product_feeds: [{ id: "8101", catalog: "8001", ...wrong }] } })).rejects.toThrow(/product_feeds\[0\]/);
  });

  test("D-56: the id of an item belongs to one feed only", async () => {
    const feeds = (id: string) => [
      { id: "8101", catalog: "8001", items: [item("b1", { id: "77" })] },
      { id: "8102", catalog: "8001", items: [item("b1", { id })] },
    ];
    await open({ world: { ...world, product_feeds: feeds("78") } });
    await expect(open({ world: { ...world, product_feeds: feeds("77") } })).rejects.toThrow("77 is already in use");
  });

  test("an update by the control API replaces the items; items that stay keep their ids, and the others are deleted", async () => {
    const plaza = await open();
    const section = sectionOf(plaza);
    const before = (await read(plaza, { fields: "retailer_id" })).body.data;
    const kept = before.find(({ retailer_id }: { retailer_id: string }) => retailer_id === "b3");
    const entry = { id: "8101", catalog: "8001", name: "two", items: [item("b3", { brand: "Acme" }), item("new")] };
    await plaza.world.database.write((tx) => section.replace(tx, entry, plaza.world));
    const { data, summary } = (await read(plaza, { fields: "retailer_id,brand", summary: "true" })).body;
    expect(data).toContainEqual({ ...kept, brand: "Acme" });
    expect({ length: data.length, total_count: summary.total_count }).toEqual({ length: 2, total_count: 2 });
    await plaza.world.work.runDue();
    expect((await plaza.dump(["feed_items.generation"])).length).toBe(3);
    expect(await plaza.world.database.write((tx) => section.remove(tx, "8101", plaza.world))).toBe(true);
    await plaza.world.work.runDue();
    expect((await plaza.dump(["feed_items.generation"])).length).toBe(1);
    expect((await read(plaza)).status).toBe(400);
    expect(await plaza.world.database.write((tx) => section.remove(tx, "8101", plaza.world))).toBe(false);
  });
});
