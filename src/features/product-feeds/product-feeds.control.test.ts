import { describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { afterThisTest } from "#harness/cleanup";
import { onEachDatabase } from "#harness/databases";
import { csv, openFeeds, row } from "#harness/feeds";
import { sql } from "#storage/sql";

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
    // Plaza deletes the file of an upload after it has ingested the file.
    expect(await plaza.dump(["feed_upload_parts.n"])).toEqual([]);
  });

  test("operating.md: a form, gzip, each format, and the requested format", async () => {
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

  test("D-279: a feed whose last file could not be read is an alert until another file was read", async () => {
    const { upload, request } = await openFeeds(database);
    const alerts = async () => (await request("GET", "alerts")).body.data.filter(({ kind }: { kind: string }) => kind === "feed");
    expect(await upload(csv(row("a")), {}, "feeds/8101/uploads?format=jsonl")).toMatchObject({ status: "failed" });
    expect(await alerts()).toEqual([
      {
        kind: "feed",
        level: "warning",
        of: "8101",
        time: 1_795_000_000,
        text: expect.stringMatching(/^Upload 1 of feed 8101 failed: .+ The feed is unchanged\.$/),
      },
    ]);
    await upload(csv(row("a")));
    expect(await alerts()).toEqual([]);
  });

  test("D-345: an upload that is not read an hour after it came is an alert, and says what it waits for", async () => {
    const { upload, request, plaza } = await openFeeds(database);
    const alerts = async () => (await request("GET", "alerts")).body.data.filter(({ kind }: { kind: string }) => kind === "feed");
    await upload(csv(row("a")));
    const becomes = (status: string, ageSeconds: number) =>
      plaza.world.database.write((tx) =>
        tx.runOne(sql`UPDATE feed_uploads SET status = ${status}, created_time = ${1_795_000_000 - ageSeconds} WHERE feed = 8101 AND n = 1`),
      );
    await becomes("running", 3_600);
    expect(await alerts()).toEqual([]);
    for (const [status, reason] of [
      ["running", "the file is being read"],
      ["pending", "the upload waits until earlier uploads end"],
      ["receiving", "the sender has not sent the whole file"],
    ] as const) {
      await becomes(status, 3_601);
      expect(await alerts()).toEqual([
        {
          ...{ kind: "feed", level: "error", of: "8101", time: 1_795_000_000 - 3_601 },
          text: `Upload 1 of feed 8101 has not finished after more than an hour: ${reason}. An alert about the upload's job, if there is one, says why.`,
        },
      ]);
    }
  });

  test("D-279: the newest 1,000 feeds are checked, however many there are", async () => {
    const { upload, request, plaza } = await openFeeds(database);
    const count = async () => (await request("GET", "alerts")).body.data.filter(({ kind }: { kind: string }) => kind === "feed").length;
    const addNewer = (from: number, amount: number) =>
      plaza.world.database.write(async (tx) => {
        for (let id = from; id < from + amount; id++)
          await tx.runOne(sql`
            INSERT INTO product_feeds (id, catalog, name, generation, next_upload, item_count) VALUES (${String(id)}, 7001, 'newer', 0, 1, 0)`);
      });
    expect(await upload(csv(row("a")), {}, "feeds/8101/uploads?format=jsonl")).toMatchObject({ status: "failed" });
    const newer = await plaza.world.database.reader.get<{ count: number }>(sql`SELECT COUNT(*) AS count FROM product_feeds f WHERE f.id > 8101`);
    await addNewer(20_000, 999 - Number(newer?.count));
    expect(await count()).toBe(1);
    await addNewer(30_000, 1);
    expect(await count()).toBe(0);
  });

  test("uploads of a feed are read in the order of their arrival, and the last one counts", async () => {
    const { plaza, send, request, idsOf } = await openFeeds(database);
    const sent = await Promise.all(["a", "b", "c", "d"].map((id) => send(csv(row(id)))));
    await plaza.world.work.runDue();
    const last = sent.find(({ body }) => body.n === 4)?.body;
    const { body } = await request("GET", "feeds/8101/uploads?limit=3");
    expect(body.data.map(({ n, status }: { n: number; status: string }) => ({ n, status }))).toEqual([
      { n: 4, status: "done" },
      { n: 3, status: "done" },
      { n: 2, status: "done" },
    ]);
    const rest = await request("GET", new URL(body.paging.next).pathname + new URL(body.paging.next).search);
    expect(rest.body).toMatchObject({ data: [{ n: 1, items_removed: 0 }], paging: {} });
    expect(body.data[0]).toMatchObject({ feed: last.feed, items_added: 1, items_removed: 1 });
    expect(await idsOf()).toHaveLength(1);
  });

  test("a feed that is deleted while its file waits is deleted with the file", async () => {
    const { plaza, send, request } = await openFeeds(database);
    await send(csv(row("a")));
    expect((await request("DELETE", "nodes/product_feeds/8101")).status).toBe(200);
    await plaza.world.work.runDue();
    expect((await request("GET", "feeds/8101/uploads/1")).status).toBe(404);
    for (const column of ["feed_uploads.n", "feed_upload_parts.n", "feed_items.position", "jobs.key"]) expect(await plaza.dump([column])).toEqual([]);
  });

  test("deleting a page deletes its catalogs, their feeds and their content", async () => {
    const { plaza, upload, request, itemsOf } = await openFeeds(database);
    await upload(csv(row("a")));
    expect(await itemsOf()).toHaveLength(1);
    expect((await request("DELETE", "nodes/pages/2001")).status).toBe(200);
    await plaza.world.work.runDue();
    for (const key of ["catalogs/8001", "product_feeds/8101", "product_feeds/8102"]) expect((await request("GET", `nodes/${key}`)).status).toBe(404);
    for (const column of ["feed_items.position", "feed_uploads.n", "product_feeds.name", "jobs.key"]) expect(await plaza.dump([column])).toEqual([]);
  });

  test("wrong requests are refused and leave nothing behind", async () => {
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
});

test("a file can have as many bytes as the operator allows, with or without a known length", async () => {
  const { send, request, plaza } = await openFeeds("sqlite", { feed_file_bytes_max: 2_000 });
  const file = (bytes: number) => `${csv(row("a"))}\n`.padEnd(bytes, "\n");
  const inParts = (text: string) => new Blob([text]).stream() as never;
  for (const body of [file(2_000), inParts(file(2_000))]) expect((await send(body, { "content-type": "text/csv" })).status).toBe(201);
  for (const body of [file(2_001), inParts(file(2_001))]) {
    const refused = (await send(body, { "content-type": "text/csv" })).body.error;
    expect(refused).toMatchObject({ code: "body_too_large", message: expect.stringContaining("2000 bytes") });
  }
  expect((await send(file(10), { "content-length": "2001" })).body.error.code).toBe("body_too_large");
  await plaza.world.work.runDue();
  expect((await request("GET", "feeds/8101/uploads")).body.data.map(({ n, bytes }: { n: number; bytes: number }) => [n, bytes])).toEqual([
    ...[
      [2, 2_000],
      [1, 2_000],
    ],
  ]);
});

test("a body with the address of a file has at most 65,536 bytes", async () => {
  const { send } = await openFeeds("sqlite");
  const codeOf = async (bytes: number) =>
    (await send(JSON.stringify({ url: "ftp://a.example/x" }).padEnd(bytes), { "content-type": "application/json" })).body.error.code;
  expect([await codeOf(65_536), await codeOf(65_537)]).toEqual(["unprocessable", "body_too_large"]);
});

describe("feed files by address", () => {
  const serve = (response: (request: Request) => Response) => {
    const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: response });
    afterThisTest(() => server.stop(true));
    return `http://127.0.0.1:${server.port}`;
  };
  const byUrl = (url: string) => [JSON.stringify({ url }), { "content-type": "application/json" }] as const;

  test("operating.md: the file is fetched by the guarded client, however long it is", async () => {
    const { upload } = await openFeeds("sqlite");
    const large = csv(...Array.from({ length: 30_000 }, (_, at) => row(`r${at}`)));
    const url = serve(({ url }) => (url.endsWith(".gz") ? new Response(gzipSync(large)) : new Response(large)));
    for (const path of ["/feed.csv", "/feed.csv.gz"]) {
      const report = await upload(...byUrl(url + path));
      expect(report).toMatchObject({ status: "done", source: "url", url: url + path, items: 30_000 });
    }
  });

  test("an address that does not return a file fails the upload, and its feed is unchanged", async () => {
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
