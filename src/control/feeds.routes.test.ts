import { describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { ROWS_PER_WRITE } from "#features/product-feeds";
import { afterThisTest } from "#harness/cleanup";
import { KEY, openControl } from "#harness/control";
import { type DatabaseKind, onEachDatabase } from "#harness/plaza";
import { cafe } from "#harness/worlds";

const world = {
  ...cafe,
  catalogs: [{ id: "8001", page: "2001", name: "Books" }],
  product_feeds: [
    { id: "8101", catalog: "8001", name: "books" },
    { id: "8102", catalog: "8001", name: "others" },
  ],
  tokens: [...cafe.tokens, { token: "reader", type: "user", app: "1001", user: "3001", scopes: ["catalog_management"] }],
};

const HEADER = "retailer_id,name,url,image_url,brand";
const row = (id: string, brand = "") => `${id},Book ${id},https://a.example/${id},https://a.example/${id}.png,${brand}`;
const csv = (...rows: string[]) => [HEADER, ...rows].join("\n");

async function openFeeds(database: DatabaseKind) {
  const { plaza, app, request } = await openControl({ database, world });
  const send = async (body: string | Uint8Array<ArrayBuffer> | FormData, headers: Record<string, string> = {}, path = "feeds/8101/uploads") => {
    const request = { method: "POST", body, headers: { authorization: `Bearer ${KEY}`, ...headers } };
    const response = await app.request(`/v1/worlds/default/${path}`, request);
    // biome-ignore lint/suspicious/noExplicitAny: a test looks into any response.
    return { status: response.status, body: (await response.json()) as any };
  };
  /** Sends a file and answers its report when it was read. */
  const upload = async (body: string | Uint8Array<ArrayBuffer> | FormData, headers?: Record<string, string>, path?: string) => {
    const sent = await send(body, headers, path);
    expect(sent.status).toBe(201);
    await plaza.world.work.runDue();
    return (await request("GET", `feeds/${sent.body.feed}/uploads/${sent.body.n}`)).body;
  };
  const itemsOf = async (fields = "retailer_id", feed = "8101") => {
    const { body } = await plaza.get(`/v25.0/${feed}/articles_and_publications`, {
      bearer: "reader",
      query: { fields, limit: "100", summary: "true" },
    });
    expect(body.summary.total_count).toBeGreaterThanOrEqual(body.data.length);
    return body.data as Record<string, string>[];
  };
  const idsOf = async () => (await itemsOf()).map(({ retailer_id }) => retailer_id as string).sort();
  return { plaza, app, request, send, upload, itemsOf, idsOf };
}

onEachDatabase("feed uploads", (database) => {
  test("D-56: a file is stored, read, and reported", async () => {
    const { plaza, send, request, idsOf } = await openFeeds(database);
    const sent = await send(csv(row("a"), row("b")), { "content-type": "text/csv" });
    expect(sent).toMatchObject({ status: 201, body: { feed: "8101", n: 1, status: "pending", source: "file", rows: 0 } });
    expect(await idsOf()).toEqual([]);
    await plaza.world.work.runDue();
    const { status, body } = await request("GET", "feeds/8101/uploads/1");
    expect(status).toBe(200);
    const counts = { rows: 2, items: 2, items_added: 2, items_replaced: 0, items_removed: 0, bad_rows: 0, duplicates: 0 };
    expect(body).toMatchObject({ status: "done", format: "csv", ...counts, errors: [], started_time: 1_795_000_000, ended_time: 1_795_000_000 });
    expect(body.problem).toBeUndefined();
    expect(await idsOf()).toEqual(["a", "b"]);
    // The file itself is not kept.
    expect(await plaza.dump(["feed_upload_parts.n"])).toEqual([]);
  });

  test("D-56: the same retailer_id again replaces and keeps its id, one that is gone is removed", async () => {
    const { upload, itemsOf } = await openFeeds(database);
    await upload(csv(row("a", "old"), row("b"), row("c")));
    const before = await itemsOf("retailer_id,brand");
    const report = await upload(csv(row("d"), row("a", "new"), row("c")));
    expect(report).toMatchObject({ status: "done", items: 3, items_added: 1, items_replaced: 2, items_removed: 1 });
    const after = await itemsOf("retailer_id,brand");
    const idIn = (items: typeof after, retailerId: string) => items.find(({ retailer_id }) => retailer_id === retailerId)?.id;
    expect(after.map(({ retailer_id }) => retailer_id)).toEqual(["d", "c", "a"]);
    expect(after[2]).toEqual({ id: idIn(before, "a") as string, retailer_id: "a", brand: "new" });
    expect(idIn(after, "c")).toBe(idIn(before, "c"));
  });

  test("D-56: bad rows and duplicates are reported with line and reason, and do not stop the rest", async () => {
    const { upload, itemsOf } = await openFeeds(database);
    const report = await upload(
      csv(
        row("a", "first"),
        "b,,https://a.example/b,https://a.example/b.png,",
        row("c").replace("https", "ftp"),
        'd,"open,u,i',
        row("a", "second"),
        row("é"),
      ),
    );
    expect(report).toMatchObject({ status: "done", rows: 6, items: 2, bad_rows: 3, duplicates: 1 });
    expect(report.errors).toEqual([
      { line: 3, retailer_id: "b", field: "name", reason: "is missing" },
      { line: 4, retailer_id: "c", field: "url", reason: "is not an http or https address" },
      { line: 5, reason: "a quote is not closed" },
      { line: 6, retailer_id: "a", field: "retailer_id", reason: "replaces the row of line 2 with the same retailer_id" },
    ]);
    expect((await itemsOf("retailer_id,brand")).map(({ retailer_id, brand }) => [retailer_id, brand])).toEqual([
      ["é", undefined],
      ["a", "second"],
    ]);
  });

  test("D-56: rows with bytes that are not UTF-8 are bad, and of many bad rows the first hundred are kept", async () => {
    const { upload, idsOf } = await openFeeds(database);
    const latin = Buffer.from(csv(row("a"), row("ü"), row("c")), "latin1");
    const report = await upload(latin);
    expect(report).toMatchObject({ items: 2, bad_rows: 1 });
    expect(report.errors[0]).toMatchObject({ line: 3, reason: "contains bytes that are not UTF-8, or U+FFFD" });
    expect(await idsOf()).toEqual(["a", "c"]);
    const many = await upload(csv(row("a"), ...Array.from({ length: 250 }, (_, at) => `bad${at}`)));
    expect([many.bad_rows, many.errors.length, many.errors[99].line]).toEqual([250, 100, 102]);
    const mixed = await upload(csv(row("a"), row("a"), ...Array.from({ length: 150 }, (_, at) => `bad${at}`), row("a")));
    expect([mixed.bad_rows, mixed.duplicates, mixed.errors.length, mixed.errors[99].line]).toEqual([150, 2, 100, 102]);
    expect(mixed.errors[0]).toMatchObject({ line: 3, retailer_id: "a" });
  });

  test("D-56: duplicates are found however far apart they are, and the last one counts", async () => {
    const { upload, itemsOf, plaza } = await openFeeds(database);
    const rows = Array.from({ length: 2_500 }, (_, at) => row(`r${at}`, "once"));
    await upload(csv(...rows));
    const report = await upload(csv(row("r1", "x"), ...rows, row("new", "x"), row("r7", "twice"), row("r7", "thrice"), row("new", "twice")));
    expect(report).toMatchObject({ rows: 2_505, items: 2_501, items_added: 1, items_replaced: 2_500, items_removed: 0, duplicates: 4 });
    expect((await itemsOf("retailer_id,brand"))[0]).toMatchObject({ retailer_id: "new", brand: "twice" });
    const page = await plaza.get("/v25.0/8101/articles_and_publications", { bearer: "reader", query: { summary: "true", limit: "1" } });
    expect(page.body.summary).toEqual({ total_count: 2_501 });
    expect(await plaza.dump(["feed_items.generation"])).toHaveLength(2_501);
  });

  test("D-56: a file that is of no use leaves the feed as it was", async () => {
    const { upload, idsOf } = await openFeeds(database);
    await upload(csv(row("a")));
    const cut = gzipSync(csv(...Array.from({ length: 3_000 }, (_, at) => row(`r${at}`))));
    for (const [file, problem] of [
      ["<html></html>", "root element is html"],
      ["name,url\nx,y", "no column for retailer_id, image_url"],
      ["[1]", "JSON list"],
      [`${HEADER}\nnot an item`, "no row is a valid item"],
      [cut.subarray(0, cut.length - 9), "damaged or truncated"],
    ] as const) {
      const report = await upload(file);
      expect(report).toMatchObject({ status: "failed", items: 0, problem: expect.stringContaining(problem) });
      expect(await idsOf()).toEqual(["a"]);
    }
    // A header and nothing else is a feed without items, which is what its sender says.
    expect(await upload(HEADER)).toMatchObject({ status: "done", rows: 0, items_removed: 1 });
    expect(await idsOf()).toEqual([]);
  });

  test("operating.md: a form, gzip, each format, and the format that is asked for", async () => {
    const { upload, send, idsOf } = await openFeeds(database);
    const form = new FormData();
    form.append("note", "fields before the file are skipped");
    form.append("file", new File([csv(row("a"), row("b"))], 'my "feed".csv'));
    expect(await upload(form)).toMatchObject({ file_name: expect.stringContaining("feed"), format: "csv", items: 2 });
    expect(await upload(gzipSync(csv(row("c"))))).toMatchObject({ format: "csv", items: 1 });
    const item = { id: "j", title: "J", link: "https://a.example/j", image_link: "https://a.example/j.png" };
    expect(await upload(JSON.stringify(item), { "content-type": "application/x-ndjson" })).toMatchObject({ format: "jsonl", items: 1 });
    expect(await upload(csv(row("t")).replaceAll(",", "\t"))).toMatchObject({ format: "tsv" });
    const atom = `<feed><entry><id>x</id><title>X</title><link href="https://a.example/x"/><link rel="enclosure" type="image/png" href="https://a.example/x.png"/></entry></feed>`;
    expect(await upload(atom)).toMatchObject({ format: "xml", items: 1 });
    expect(await idsOf()).toEqual(["x"]);
    expect(await upload(csv(row("a")), {}, "feeds/8101/uploads?format=jsonl")).toMatchObject({ status: "failed", format: "jsonl" });
    expect((await send(csv(row("a")), {}, "feeds/8101/uploads?format=xlsx")).body.error).toMatchObject({ code: "bad_request", parameter: "format" });
  });

  test("uploads of a feed are read in the order in which they came, and the last one stands", async () => {
    const { plaza, send, request, idsOf } = await openFeeds(database);
    const sent = await Promise.all(["a", "b", "c", "d"].map((id) => send(csv(row(id)))));
    await plaza.world.work.runDue();
    const last = sent.find(({ body }) => body.n === 4)?.body;
    const { body } = await request("GET", "feeds/8101/uploads?limit=3");
    expect(body.data.map(({ n, status }: { n: number; status: string }) => [n, status])).toEqual([
      [4, "done"],
      [3, "done"],
      [2, "done"],
    ]);
    const rest = await request("GET", new URL(body.paging.next).pathname + new URL(body.paging.next).search);
    expect(rest.body).toMatchObject({ data: [{ n: 1, items_removed: 0 }], paging: {} });
    expect(body.data[0]).toMatchObject({ feed: last.feed, items_added: 1, items_removed: 1 });
    expect(await idsOf()).toHaveLength(1);
  });

  test("a run that is taken up again begins anew: complete, and none twice", async () => {
    const { plaza, send, request, idsOf } = await openFeeds(database);
    const rows = Array.from({ length: 3 * ROWS_PER_WRITE }, (_, at) => row(`r${at}`));
    await send(csv(...rows));
    const { database: store } = plaza.world;
    // The connection to the store breaks when two writes of rows are done.
    const { write } = store;
    let writes = 0;
    store.write = (body) => (++writes === 6 ? Promise.reject(new Error("gone")) : write.call(store, body)) as never;
    await plaza.world.work.runDue();
    store.write = write;
    expect((await request("GET", "feeds/8101/uploads/1")).body).toMatchObject({ status: "running", items: 2 * ROWS_PER_WRITE });
    expect(await idsOf()).toEqual([]);
    plaza.time.realMs += 60_000;
    await plaza.world.work.runDue();
    expect((await request("GET", "feeds/8101/uploads/1")).body).toMatchObject({
      status: "done",
      items: 3 * ROWS_PER_WRITE,
      items_added: 3 * ROWS_PER_WRITE,
      duplicates: 0,
    });
    expect(await plaza.dump(["feed_items.position"])).toHaveLength(3 * ROWS_PER_WRITE);
  });

  test("while a file is read the feed shows the one before, whole", async () => {
    const { plaza, upload, send } = await openFeeds(database);
    await upload(csv(...Array.from({ length: 50 }, (_, at) => row(`old${at}`))));
    await send(csv(...Array.from({ length: 4_000 }, (_, at) => row(`new${at}`))));
    const seen = new Set<string>();
    let isOver = false;
    const run = plaza.world.work.runDue().then(() => (isOver = true));
    while (!isOver) {
      const { body } = await plaza.get("/v25.0/8101/articles_and_publications", { bearer: "reader", query: { fields: "retailer_id", limit: "100" } });
      const kinds = new Set(body.data.map(({ retailer_id }: { retailer_id: string }) => retailer_id.slice(0, 3)));
      seen.add(`${[...kinds].join()} ${body.data.length}`);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await run;
    for (const state of seen) expect(["old 50", "new 100"]).toContain(state);
    expect(seen).toContain("old 50");
  });

  test("a feed that is deleted while its file waits takes the file with it", async () => {
    const { plaza, send, request } = await openFeeds(database);
    await send(csv(row("a")));
    expect((await request("DELETE", "nodes/product_feeds/8101")).status).toBe(200);
    await plaza.world.work.runDue();
    expect((await request("GET", "feeds/8101/uploads/1")).status).toBe(404);
    for (const column of ["feed_uploads.n", "feed_upload_parts.n", "feed_items.position", "jobs.key"]) expect(await plaza.dump([column])).toEqual([]);
  });

  test("a page that is deleted takes its catalogs, their feeds and what those hold", async () => {
    const { plaza, upload, request, itemsOf } = await openFeeds(database);
    await upload(csv(row("a")));
    expect(await itemsOf()).toHaveLength(1);
    expect((await request("DELETE", "nodes/pages/2001")).status).toBe(200);
    await plaza.world.work.runDue();
    for (const key of ["catalogs/8001", "product_feeds/8101", "product_feeds/8102"]) expect((await request("GET", `nodes/${key}`)).status).toBe(404);
    for (const column of ["feed_items.position", "feed_uploads.n", "product_feeds.name", "jobs.key"]) expect(await plaza.dump([column])).toEqual([]);
  });

  test("wrong calls are refused and leave nothing behind", async () => {
    const { plaza, send, request } = await openFeeds(database);
    for (const path of ["feeds/8199/uploads", "feeds/2001/uploads", "feeds/x/uploads"]) {
      expect((await send(csv(row("a")), {}, path)).status).toBe(404);
      expect((await request("GET", path)).status).toBe(404);
    }
    for (const n of ["1", "0", "-1", "x", "99999999999999999999"]) expect((await request("GET", `feeds/8101/uploads/${n}`)).status).toBe(404);
    const json = { "content-type": "application/json" };
    for (const body of ["{", "{}", "[]", '{"url":""}', '{"url":"https://a.example","file":1}', '{"url":7}'])
      expect((await send(body, json)).body.error.code).toBe("bad_request");
    for (const url of ["ftp://a.example/x", "http://10.0.0.1/x", "http://169.254.169.254/latest", "nonsense"])
      expect((await send(JSON.stringify({ url }), json)).body.error).toMatchObject({ code: "unprocessable", parameter: "url" });
    const type = { "content-type": "multipart/form-data; boundary=b" };
    for (const body of [
      "",
      "--b--\r\n",
      '--b\r\nContent-Disposition: form-data; name="x"\r\n\r\ny\r\n--b--\r\n',
      '--b\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\nabc',
    ])
      expect((await send(body, type)).body.error.code).toBe("bad_request");
    expect((await send("x", { "content-type": "multipart/form-data" })).body.error.code).toBe("bad_request");
    expect((await send("x", { "content-length": String(5 * 2 ** 30) })).body.error.code).toBe("body_too_large");
    expect((await request("GET", "feeds/8101/uploads/1?within_ms=70000")).body.error.parameter).toBe("within_ms");
    await plaza.world.work.runDue();
    for (const column of ["feed_uploads.n", "feed_upload_parts.n", "jobs.key"]) expect(await plaza.dump([column])).toEqual([]);
  });

  test("after any uploads the feed holds what the last good one says", async () => {
    const { plaza, upload, itemsOf, idsOf } = await openFeeds(database);
    const files = fc.array(fc.array(fc.tuple(fc.constantFrom("a", "b", "c", "Ä", "😀"), fc.constantFrom("x", "y", "!")), { maxLength: 6 }), {
      maxLength: 4,
    });
    let expected = new Map<string, string>();
    const ids = new Map<string, string>();
    await fc.assert(
      fc.asyncProperty(files, async (uploads) => {
        for (const rows of uploads) {
          const good = rows.filter(([, brand]) => brand !== "!");
          const report = await upload(csv(...rows.map(([id, brand]) => (brand === "!" ? `${id},bad` : row(id, brand)))));
          const isUsed = good.length > 0 || rows.length === 0;
          expect(report.status).toBe(isUsed ? "done" : "failed");
          if (isUsed) expected = new Map(good);
          const items = await itemsOf("retailer_id,brand");
          expect(new Map(items.map(({ retailer_id, brand }) => [retailer_id as string, brand as string]))).toEqual(expected);
          expect(items).toHaveLength(expected.size);
          for (const { id, retailer_id } of items) if (ids.has(retailer_id as string)) expect(ids.get(retailer_id as string)).toBe(id as string);
          for (const known of [...ids.keys()]) if (!expected.has(known)) ids.delete(known);
          for (const { id, retailer_id } of items) ids.set(retailer_id as string, id as string);
        }
      }),
      { numRuns: database === "sqlite" ? 30 : 8 },
    );
    expect(await plaza.dump(["feed_items.position"])).toHaveLength((await idsOf()).length);
  }, 30_000);
});

describe("feed files by address", () => {
  const serve = (response: (request: Request) => Response) => {
    const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: response });
    afterThisTest(() => server.stop(true));
    return `http://127.0.0.1:${server.port}`;
  };
  const byUrl = (url: string) => [JSON.stringify({ url }), { "content-type": "application/json" }] as const;

  test("operating.md: the file is fetched by the guarded way out, however long it is", async () => {
    const { upload } = await openFeeds("sqlite");
    const large = csv(...Array.from({ length: 30_000 }, (_, at) => row(`r${at}`)));
    const url = serve(({ url }) => (url.endsWith(".gz") ? new Response(gzipSync(large)) : new Response(large)));
    for (const path of ["/feed.csv", "/feed.csv.gz"]) {
      const report = await upload(...byUrl(url + path));
      expect(report).toMatchObject({ status: "done", source: "url", url: url + path, items: 30_000 });
    }
  });

  test("an address that does not answer with a file fails the upload, and its feed stays", async () => {
    const { upload, idsOf } = await openFeeds("sqlite");
    await upload(csv(row("a")));
    const url = serve(({ url }) => {
      if (url.endsWith("/moved")) return new Response(null, { status: 302, headers: { location: "http://10.0.0.1/" } });
      return url.endsWith("/short")
        ? new Response("x", { status: 200, headers: { "content-type": "text/csv" } })
        : new Response("no", { status: 404 });
    });
    for (const [address, problem] of [
      [`${url}/missing`, "the address returned status 404"],
      [`${url}/moved`, "the address returned status 302; redirects are not followed"],
      [`${url}/short`, "no column for"],
      ["http://127.0.0.1:1/closed", "onnect"],
    ]) {
      const report = await upload(...byUrl(address as string));
      expect(report).toMatchObject({ status: "failed", problem: expect.stringContaining(problem as string) });
      expect(await idsOf()).toEqual(["a"]);
    }
  });

  test("a name that leads to a private address is refused when it is fetched (D-64)", async () => {
    const { upload } = await openFeeds("sqlite");
    const report = await upload(...byUrl("http://localtest.invalid/feed.csv"));
    expect(report.status).toBe("failed");
  });
});
