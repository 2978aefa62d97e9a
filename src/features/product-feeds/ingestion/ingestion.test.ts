import { expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { onEachDatabase } from "#harness/databases";
import { csv, feedWorld, HEADER, openFeeds, row } from "#harness/feeds";
import { openPlaza } from "#harness/plaza";
import { startReceiver } from "#harness/receiver";
import { nodeId } from "#kernel/ids";
import { removeFeed } from "../product-feeds.handlers.ts";
import { PART_BYTES, ROWS_PER_WRITE } from "../product-feeds.limits.ts";
import { findPart } from "./uploads.store.ts";
import { receiveFile } from "./uploads.ts";

onEachDatabase("reading a feed file", (database) => {
  test("D-56: a repeated retailer_id replaces the item and keeps its id; a missing one is removed", async () => {
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
      { severity: "warning", line: 6, retailer_id: "a", field: "retailer_id", reason: "replaces the row of line 2 with the same retailer_id" },
    ]);
    expect(await itemsOf("retailer_id,brand")).toEqual([
      { id: expect.any(String), retailer_id: "é" },
      { id: expect.any(String), retailer_id: "a", brand: "second" },
    ]);
  });

  test("D-56: rows with bytes that are not UTF-8 are bad, and the first hundred bad rows are stored", async () => {
    const { upload, idsOf } = await openFeeds(database);
    const latin = Buffer.from(csv(row("a"), row("ü"), row("c")), "latin1");
    const report = await upload(latin);
    expect(report).toMatchObject({ items: 2, bad_rows: 1 });
    expect(report.errors[0]).toMatchObject({ line: 3, reason: "contains bytes that are not UTF-8, or U+FFFD" });
    expect(await idsOf()).toEqual(["a", "c"]);
    const many = await upload(csv(row("a"), ...Array.from({ length: 250 }, (_, at) => `bad${at}`)));
    expect(many.bad_rows).toBe(250);
    expect(many.errors).toHaveLength(100);
    expect(many.errors[99].line).toBe(102);
    const mixed = await upload(csv(row("a"), row("a"), ...Array.from({ length: 150 }, (_, at) => `bad${at}`), row("a")));
    expect(mixed).toMatchObject({ bad_rows: 150, duplicates: 2 });
    expect(mixed.errors).toHaveLength(100);
    expect(mixed.errors[99].line).toBe(102);
    expect(mixed.errors[0]).toMatchObject({ line: 3, retailer_id: "a" });
  });

  test("D-56: duplicates are found at any distance, and the last one counts", async () => {
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

  test("D-56: a file that is refused as a whole leaves the feed unchanged", async () => {
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
    // A file with only a header is valid and removes all items of the feed, because its sender wants a feed without items.
    expect(await upload(HEADER)).toMatchObject({ status: "done", rows: 0, items_removed: 1 });
    expect(await idsOf()).toEqual([]);
  });

  test("an interrupted run begins again: complete, and nothing twice", async () => {
    const { plaza, send, request, idsOf } = await openFeeds(database);
    const rows = Array.from({ length: 3 * ROWS_PER_WRITE }, (_, at) => row(`r${at}`));
    await send(csv(...rows));
    const { database: store } = plaza.world;
    // The connection to the database breaks after two writes of rows.
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

  test("a file that arrives while another one is read waits for it, and does not disturb it", async () => {
    const { plaza, send, request, idsOf } = await openFeeds(database);
    await send(csv(row("a")));
    const { database: store } = plaza.world;
    const { write } = store;
    const [isHeld, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let writes = 0;
    store.write = (async (body) => {
      if (++writes === 3) {
        isHeld.resolve();
        await goesOn.promise;
      }
      return write.call(store, body);
    }) as typeof write;
    const run = plaza.world.work.runDue();
    await isHeld.promise;
    expect((await send(csv(row("b")))).status).toBe(201);
    goesOn.resolve();
    await run;
    const statusOf = async (n: number) => (await request("GET", `feeds/8101/uploads/${n}`)).body.status;
    // A run that fails would be repeated half a minute later, but the clock does not move in this test.
    expect([await statusOf(1), await statusOf(2), await idsOf()]).toEqual(["done", "done", ["b"]]);
  });

  test("while a file is read the feed shows the complete old one", async () => {
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

  test("after any uploads the feed has the items of the last good one, and later updates", async () => {
    const { plaza, upload, itemsOf, idsOf } = await openFeeds(database);
    const rowsOfFile = fc.array(fc.tuple(fc.constantFrom("a", "b", "c", "Ä", "😀"), fc.constantFrom("x", "y", "!")), { maxLength: 6 });
    const files = fc.array(fc.record({ rows: rowsOfFile, isUpdate: fc.boolean() }), { maxLength: 4 });
    let expected = new Map<string, string>();
    const ids = new Map<string, string>();
    await fc.assert(
      fc.asyncProperty(files, async (uploads) => {
        for (const { rows, isUpdate } of uploads) {
          const good = rows.filter(([, brand]) => brand !== "!");
          const file = csv(...rows.map(([id, brand]) => (brand === "!" ? `${id},bad` : row(id, brand))));
          const report = await upload(file, {}, `feeds/8101/uploads?update_only=${isUpdate}`);
          const isUsed = good.length > 0 || rows.length === 0;
          expect(report.status).toBe(isUsed ? "done" : "failed");
          if (isUsed) expected = new Map(isUpdate ? [...expected, ...good] : good);
          // D-148: the feed keeps items that are not in the file of an update.
          expect(report.items_removed === 0 || !isUpdate).toBe(true);
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

/** Makes one line of a JSON lines file for the tests about the rows in a report. */
const item = (more: object) => JSON.stringify({ title: "t", link: "https://a.example/", image_link: "https://a.example/i.png", ...more });

onEachDatabase("the report of a feed file", (database) => {
  test("D-141: names a bad row by the beginning of its id, as far as it can be stored", async () => {
    const { upload } = await openFeeds(database);
    const ids = ["x".repeat(150), `${"x".repeat(99)}😀`, "a\u0000b", "  ", " short "];
    const report = await upload([...ids.map((id) => item({ id, title: "" })), item({ id: "fine" })].join("\n"));
    expect(report).toMatchObject({ status: "done", rows: 6, items: 1, bad_rows: 5 });
    const named = ["x".repeat(100), `${"x".repeat(99)}\uFFFD`, "a\uFFFDb", undefined, "short"];
    expect(report.errors.map(({ line, retailer_id }: { line: number; retailer_id?: string }) => [line, retailer_id])).toEqual(
      named.map((id, at) => [at + 1, id]),
    );
    const reasons = report.errors.map(({ field, reason }: { field: string; reason: string }) => `${field} ${reason}`);
    expect(reasons).toEqual([
      "retailer_id is longer than 100 characters",
      "name is missing",
      "name is missing",
      "retailer_id is missing",
      "name is missing",
    ]);
  });

  test("D-141: counts the items of XML, even if several are on a line", async () => {
    const { upload, itemsOf } = await openFeeds(database);
    const element = (id: string, title: string) =>
      `<item><guid>${id}</guid><title>${title}</title><link>https://a.example/</link><image_link>https://a.example/i</image_link></item>`;
    const report = await upload(`<rss><channel>${element("a", "one")}${element("b", "two")}${element("a", "three")}</channel></rss>`);
    expect(report).toMatchObject({ status: "done", format: "xml", rows: 3, items: 2, items_added: 2, duplicates: 1 });
    expect(report.errors).toEqual([
      { severity: "warning", line: 1, retailer_id: "a", field: "retailer_id", reason: "replaces item 1 of the file with the same retailer_id" },
    ]);
    expect((await itemsOf("name")).map(({ name }) => name)).toEqual(["two", "three"]);
  });

  test("D-141: has a warning for each omitted value, the first hundred by line beside the bad rows", async () => {
    const { upload } = await openFeeds(database);
    const rows = Array.from({ length: 120 }, (_, at) => item({ id: `a${at}`, price: "much", ...(at % 2 === 0 ? {} : { title: "" }) }));
    const report = await upload(rows.join("\n"));
    expect(report).toMatchObject({ rows: 120, items: 60, bad_rows: 60 });
    const kind = ({ severity, line }: { severity?: string; line: number }) => `${line} ${severity ?? "bad"}`;
    expect(report.errors.map(kind)).toEqual(Array.from({ length: 100 }, (_, at) => `${at + 1} ${at % 2 === 0 ? "warning" : "bad"}`));
    expect(report.errors[0]).toEqual({
      ...{ severity: "warning", line: 1, retailer_id: "a0", field: "price" },
      reason: "is not a price such as 12.50; the item is kept without this value",
    });
  });
});

onEachDatabase("D-149: the end of an ingestion", (database) => {
  test("is sent only to apps that are subscribed to it and on the catalog's page", async () => {
    const receiver = startReceiver();
    const { upload, request, plaza } = await openFeeds(database);
    const subscription = { callback: { url: receiver.url }, subscriptions: [{ object: "catalog", fields: ["product_feed"] }] };
    for (const app of ["1001", "1002"]) expect((await request("PATCH", `nodes/apps/${app}`, subscription)).status).toBe(200);
    await upload(csv(row("a")));
    expect(receiver.posts).toEqual([]);
    await request("PATCH", "nodes/pages/2001", { subscribed_apps: [{ app: "1001", subscribed_fields: ["custom_labels"] }] });
    for (const file of [csv(row("b")), "<html></html>"]) {
      await upload(file);
      await plaza.world.work.runDue();
    }
    const event = (status: string) => ({
      object: "catalog",
      entry: [
        {
          ...{ id: "8001", time: 1_795_000_000 },
          changes: [{ field: "product_feed", value: { catalog_id: "8001", product_feed_id: "8101", status } }],
        },
      ],
    });
    expect(receiver.posts.map(({ body }) => JSON.parse(body))).toEqual([event("Finished"), event("Failed")]);
  });
});

/** Tests how an upload ends if its feed is deleted while the file arrives. */
onEachDatabase("a received file", (database) => {
  test("is refused if its feed was deleted meanwhile, and nothing of it stays", async () => {
    const { world } = await openPlaza({ database, world: feedWorld });
    const stored = () => Promise.all([0, 1].map(async (part) => (await findPart(world.database.reader, "8101", 1, part))?.length));
    async function* file() {
      yield new Uint8Array(PART_BYTES + 1);
      expect(await stored()).toEqual([PART_BYTES, undefined]);
      await world.database.write((tx) => removeFeed(tx, world, nodeId("8101")));
      yield new Uint8Array(1);
    }
    await expect(receiveFile(world, "8101", file(), { isUpdate: false })).rejects.toThrow("the feed was deleted during the upload");
    await world.work.runDue();
    expect(await stored()).toEqual([undefined, undefined]);
  });
});
