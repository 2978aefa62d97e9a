import { expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { afterThisTest } from "#harness/cleanup";
import { onEachDatabase } from "#harness/databases";
import { csv, feedWorld, openFeeds, row } from "#harness/feeds";
import { openPlaza, requestOfLink } from "#harness/plaza";
import { UPLOADS_KEPT_MAX } from "./product-feeds.limits.ts";

const fileOf = (content: string | Uint8Array, filename = "books.csv") =>
  new Map([["file", { filename, contentType: "text/csv", bytes: typeof content === "string" ? Buffer.from(content) : content }]]);

onEachDatabase("D-147: uploads over the graph", (database) => {
  const open = async () => {
    const feeds = await openFeeds(database);
    const { plaza } = feeds;
    const post = (file: string | Uint8Array, body: Record<string, unknown> = {}) =>
      plaza.post("/v25.0/8101/uploads", { bearer: "reader", files: fileOf(file), body });
    const get = async (path: string, query: Record<string, unknown> = {}) => (await plaza.get(`/v25.0/${path}`, { bearer: "reader", query })).body;
    /** Sends a file and runs the job that reads it. Returns the id of the upload. */
    const take = async (file: string | Uint8Array, body?: Record<string, unknown>): Promise<string> => {
      const sent = await post(file, body);
      expect(sent.status).toBe(200);
      await plaza.world.work.runDue();
      return sent.body.id;
    };
    return { ...feeds, post, get, take };
  };

  test("a file is accepted, read, and reported as a node and in the control API", async () => {
    const { post, get, plaza, request, idsOf } = await open();
    const { body } = await post(gzipSync(csv(row("a"), row("b"), "c,,,,")));
    expect(body).toEqual({ id: expect.stringMatching(/^\d+$/) });
    expect(await get(body.id, { fields: "status,start_time" })).toEqual({ id: body.id, status: "pending" });
    await plaza.world.work.runDue();
    expect(await idsOf()).toEqual(["a", "b"]);
    const fields =
      "status,start_time,end_time,input_method,filename,format,update_only,num_detected_items,num_persisted_items,num_invalid_items,num_deleted_items,error_count,url";
    expect(await get(body.id, { fields })).toEqual({
      ...{ id: body.id, status: "done", start_time: "2026-11-18T11:06:40+0000", end_time: "2026-11-18T11:06:40+0000" },
      ...{ input_method: "Manual Upload", filename: "books.csv", format: "csv", update_only: false },
      ...{ num_detected_items: 3, num_persisted_items: 2, num_invalid_items: 1, num_deleted_items: 0, error_count: 1 },
    });
    expect((await request("GET", "feeds/8101/uploads/1")).body).toMatchObject({ status: "done", rows: 3, items: 2, bad_rows: 1 });
    expect((await get("8101/uploads")).data).toEqual([{ id: body.id, start_time: expect.any(String), end_time: expect.any(String) }]);
    expect(await get("8101", { fields: "product_count,uploads{status}" })).toMatchObject({
      product_count: 2,
      uploads: { data: [{ status: "done" }] },
    });
  });

  test("the errors of a file are listed, with paging in both directions", async () => {
    const { take, get, plaza } = await open();
    const id = await take(csv(row("a"), "b,,https://a.example/b,https://a.example/b.png,", row("a"), "c"));
    const errors = (await get(`${id}/errors`)).data;
    expect(errors).toEqual([
      { severity: "fatal", summary: "is missing", row_number: 3, retailer_id: "b", field: "name" },
      {
        ...{ severity: "warning", summary: "replaces the row of line 2 with the same retailer_id", row_number: 4 },
        ...{ retailer_id: "a", field: "retailer_id" },
      },
      { severity: "fatal", summary: "is missing", row_number: 5, retailer_id: "c", field: "name" },
    ]);
    const first = await get(`${id}/errors`, { limit: "2" });
    expect(first.data).toEqual(errors.slice(0, 2));
    const follow = async (link: string) => {
      const { path, query } = requestOfLink(link);
      return (await plaza.get(path, { bearer: "reader", query })).body;
    };
    const second = await follow(first.paging.next);
    expect(second.data).toEqual(errors.slice(2));
    expect(second.paging.next).toBeUndefined();
    expect((await follow(second.paging.previous)).data).toEqual(errors.slice(0, 2));
    const middle = await follow((await get(`${id}/errors`, { limit: "1" })).paging.next);
    expect((await follow(middle.paging.previous)).data).toEqual(errors.slice(0, 1));
    const failed = await take("<html></html>");
    expect((await get(`${failed}/errors`)).data).toEqual([{ severity: "fatal", summary: expect.stringContaining("root element is html") }]);
    expect(await get(failed, { fields: "status,error_count" })).toEqual({ id: failed, status: "failed", error_count: 1 });
  });

  test("the errors are read page by page, forwards and backwards, whether the last page is full or not", async () => {
    const { take, get, plaza } = await open();
    for (const count of [4, 5]) {
      const id = await take(csv(row("a"), ...Array.from({ length: count }, (_, at) => `x${at}`)));
      const ids = Array.from({ length: count }, (_, at) => `x${at}`);
      const forwards: string[][] = [];
      const backwards: string[][] = [];
      const idsOf = ({ data }: { data: { retailer_id: string }[] }) => data.map(({ retailer_id }) => retailer_id);
      let page = await get(`${id}/errors`, { limit: "2" });
      const follow = async (link: string) => {
        const { path, query } = requestOfLink(link);
        page = (await plaza.get(path, { bearer: "reader", query })).body;
      };
      expect(page.paging.previous).toBeUndefined();
      for (forwards.push(idsOf(page)); page.paging.next !== undefined; forwards.push(idsOf(page))) await follow(page.paging.next);
      for (backwards.push(idsOf(page)); page.paging.previous !== undefined; backwards.push(idsOf(page))) await follow(page.paging.previous);
      expect(forwards).toEqual([ids.slice(0, 2), ids.slice(2, 4), ...(count > 4 ? [ids.slice(4)] : [])]);
      expect(backwards).toEqual(forwards.toReversed());
      expect(page.paging.next).toBeString();
      // If only one row precedes a page, the previous page has only this row, even if the limit is higher.
      page = await get(`${id}/errors`, { limit: "1" });
      await follow(page.paging.next);
      expect(idsOf(page)).toEqual(["x1"]);
      await follow(page.paging.previous.replace("limit=1", "limit=2"));
      expect(idsOf(page)).toEqual(["x0"]);
    }
    const none = await get(`${await take(csv(row("a")))}/errors`);
    expect(none.data).toEqual([]);
    expect(none.paging).toEqual({ cursors: {} });
  });

  test("D-148: with update_only the items of the file are added, and all others stay", async () => {
    const { take, get, itemsOf, plaza, request } = await open();
    await take(csv(...Array.from({ length: 4_100 }, (_, at) => row(`r${at}`))));
    const before = await itemsOf("retailer_id");
    const id = await take(csv(row("r0", "new"), row("more"), row("more", "twice")), { update_only: "true" });
    expect(await get(id, { fields: "update_only,num_persisted_items,num_deleted_items" })).toEqual({
      ...{ id, update_only: true, num_persisted_items: 2, num_deleted_items: 0 },
    });
    expect(await get("8101", { fields: "product_count" })).toEqual({ id: "8101", product_count: 4_101 });
    const after = await itemsOf("retailer_id,brand");
    expect(after[0]).toMatchObject({ retailer_id: "more", brand: "twice" });
    expect(after.slice(1).map(({ id }) => id)).toEqual(before.slice(0, 99).map(({ id }) => id));
    expect(await plaza.dump(["feed_items.generation"])).toHaveLength(4_101);
    expect((await request("GET", "feeds/8101/uploads/2")).body).toMatchObject({
      update_only: true,
      items_added: 1,
      items_replaced: 1,
      items_removed: 0,
    });
    // A file that cannot be used and a file without rows do not change the feed.
    await take("<html></html>", { update_only: true });
    await take(csv(), { update_only: true });
    expect(await get("8101", { fields: "product_count" })).toEqual({ id: "8101", product_count: 4_101 });
  });

  test("wrong uploads are refused and leave nothing behind", async () => {
    const { plaza } = await open();
    const post = (body: Record<string, unknown>, files = new Map()) => plaza.post("/v25.0/8101/uploads", { bearer: "reader", body, files });
    for (const [body, parameter] of [
      [{}, "file"],
      [{ file: "as text" }, "file"],
      [{ url: "" }, "url"],
      [{ url: "ftp://a.example/x" }, "url"],
      [{ url: "http://169.254.169.254/latest" }, "url"],
      [{ url: "https://a.example/x", password: "p" }, "password"],
      [{ url: "https://a.example/x", update_only: "maybe" }, "update_only"],
    ] as const) {
      const { status, body: refusal } = await post(body);
      expect({ body, status, parameter: refusal.error.error_data.parameter }).toEqual({ body, status: 400, parameter });
    }
    const both = await post({ url: "https://a.example/x" }, fileOf("x"));
    expect(both.body.error.error_data).toEqual({ parameter: "url" });
    const withPassword = await post({ password: "{}" }, fileOf("x"));
    expect({ status: withPassword.status, ...withPassword.body.error.error_data }).toEqual({ status: 400, parameter: "password" });
    for (const column of ["feed_uploads.n", "feed_upload_parts.n", "jobs.key"]) expect(await plaza.dump([column])).toEqual([]);
  });

  test("an operator's limit for a file applies to sent and to fetched files", async () => {
    const plaza = await openPlaza({ database, world: feedWorld, settings: { feed_file_bytes_max: 1_024 } });
    const post = (body: Record<string, unknown>, files = new Map()) => plaza.post("/v25.0/8101/uploads", { bearer: "reader", body, files });
    const large = csv(row("a", "x".repeat(1_100)));
    expect((await post({}, fileOf(large))).body.error).toMatchObject({
      error_data: { parameter: "file" },
      message: expect.stringContaining("1024 bytes"),
    });
    const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response(large) });
    afterThisTest(() => server.stop(true));
    const { id } = (await post({ url: `http://127.0.0.1:${server.port}/` })).body;
    await plaza.world.work.runDue();
    const errors = await plaza.get(`/v25.0/${id}/errors`, { bearer: "reader" });
    expect(errors.body.data).toEqual([{ severity: "fatal", summary: "the file is larger than 1024 bytes" }]);
    expect(await plaza.dump(["feed_upload_parts.n"])).toEqual([]);
  });

  test("files of one catalog whose servers do not respond do not delay those of other catalogs", async () => {
    const slow = Array.from({ length: 40 }, (_, n) => ({ id: String(8_200 + n), catalog: "8002", name: `slow ${n}` }));
    const world = {
      ...feedWorld,
      catalogs: [...feedWorld.catalogs, { id: "8002", page: "2001", name: "Slow" }],
      product_feeds: [...feedWorld.product_feeds, ...slow],
    };
    const plaza = await openPlaza({ database, world });
    const gate = Promise.withResolvers<void>();
    let asked = 0;
    const silent = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: async () => {
        asked++;
        await gate.promise;
        return new Response(csv(row("late")));
      },
    });
    afterThisTest(() => silent.stop(true));
    const url = `http://127.0.0.1:${silent.port}/`;
    for (const { id } of slow) expect((await plaza.post(`/v25.0/${id}/uploads`, { bearer: "reader", body: { url } })).status).toBe(200);
    plaza.time.realMs += 1_000;
    const { id } = (await plaza.post("/v25.0/8101/uploads", { bearer: "reader", files: fileOf(csv(row("a"))) })).body;
    plaza.world.work.start();
    const status = async () => (await plaza.get(`/v25.0/${id}`, { bearer: "reader", query: { fields: "status" } })).body.status;
    while ((await status()) !== "done") await Bun.sleep(5);
    expect(asked).toBeLessThan(slow.length);
    gate.resolve();
    await plaza.world.work.runDue();
    expect(asked).toBe(slow.length);
  });

  test("callers with access to the catalog see an upload and its errors", async () => {
    const { take, plaza } = await open();
    const id = await take(csv(row("a")));
    for (const path of [id, `${id}/errors`, "8101/uploads"]) {
      const as = async (access_token: string) => {
        const { status, body } = await plaza.get(`/v25.0/${path}`, { query: { access_token } });
        return { path, status, code: body.error?.code };
      };
      const unscoped = await plaza.mint({ type: "user", app: "1001" as never, user: "3001" as never, scopes: [] });
      const stranger = await plaza.mint({ type: "user", app: "1001" as never, user: "3003" as never, scopes: ["catalog_management"] });
      expect(await as("reader")).toEqual({ path, status: 200, code: undefined });
      expect(await as(unscoped)).toEqual({ path, status: 403, code: 10 });
      expect(await as(stranger)).toEqual({ path, status: 400, code: 100 });
    }
  });

  test("a deleted feed loses its uploads at once, even a waiting one, and their files later", async () => {
    const { take, post, plaza } = await open();
    const refusal = async (path: string) => (await plaza.get(`/v25.0/${path}`, { query: { access_token: "reader" } })).body.error.error_subcode;
    const uploads = [await take(csv(row("a"))), (await post(csv(row("b")))).body.id];
    expect((await plaza.delete("/v25.0/8101", { bearer: "reader" })).status).toBe(200);
    expect(await Promise.all(uploads.flatMap((id) => [id, `${id}/errors`]).map(refusal))).toEqual([33, 33, 33, 33]);
    expect(await plaza.dump(["feed_upload_parts.n"])).not.toEqual([]);
    await plaza.world.work.runDue();
    expect(await plaza.dump(["feed_upload_parts.n"])).toEqual([]);
  });

  test("the nodes of old uploads are deleted with their reports", async () => {
    const { take, post, plaza } = await open();
    const oldest = await take(csv(row("a")));
    for (let more = 0; more < UPLOADS_KEPT_MAX; more += 20) {
      for (let at = 0; at < 20; at++) await post(csv(row("b")));
      await plaza.world.work.runDue();
    }
    await post(csv(row("b")));
    await plaza.world.work.runDue();
    expect((await plaza.get(`/v25.0/${oldest}`, { query: { access_token: "reader" } })).body.error.error_subcode).toBe(33);
    const uploads = (await plaza.dump(["nodes.type"])).filter((row) => (row as { value: string }).value === "product_feed_upload");
    expect(uploads).toHaveLength((await plaza.dump(["feed_uploads.n"])).length);
  });
});
