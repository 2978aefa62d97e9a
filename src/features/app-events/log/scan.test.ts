/** Tests a filtered list of a long log: each page scans at most 10,000 rows, and the next page continues at the row where the scan stopped. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { nodeId } from "#kernel/ids";
import { insertEvents, listEvents } from "./log.store.ts";

const APP = nodeId("1001");
const ROWS = 10_004;
const RARE = [1, 3, 4, 10_000];

onEachDatabase("a filter over a long log", (kind) => {
  test("a page may be short and have a next one, until nothing older can match", async () => {
    const { database } = (await openPlaza({ database: kind })).world;
    const row = (app: string, request: number) => [
      app,
      request,
      0,
      request,
      50,
      RARE.includes(request) ? "rare" : "n",
      null,
      null,
      null,
      "",
      "",
      1,
      "{}",
    ];
    await database.write(async (tx) => {
      await insertEvents(tx, Array.from({ length: ROWS }, (_, at) => row(APP, at + 1)).flat());
      // The rows of another app do not count towards the limit of scanned rows.
      await insertEvents(tx, Array.from({ length: 50 }, (_, at) => row("1002", at + 1)).flat());
    });
    const list = async (name: string | undefined, since: number | undefined, limit: number, after?: readonly string[]) => {
      const { rows, hasNext, lastKey } = await listEvents(database.reader, APP, { name, since }, { limit, after });
      return { requests: rows.map(({ request }) => request), hasNext, ...(hasNext ? { lastKey } : {}) };
    };
    // The scan of the first page stops at the row of request 4.
    const first = await list("rare", undefined, 9);
    expect(first).toEqual({ requests: [10_000, 4], hasNext: true, lastKey: ["4", "0"] });
    expect(await list("rare", undefined, 9, first.lastKey)).toEqual({ requests: [3, 1], hasNext: false });
    expect(await list("none", undefined, 9)).toEqual({ requests: [], hasNext: true, lastKey: ["4", "0"] });
    expect(await list("none", undefined, 9, ["10003", "0"])).toEqual({ requests: [], hasNext: true, lastKey: ["2", "0"] });
    // A full page ends at its last row, although the scan could continue.
    expect(await list("rare", undefined, 1)).toEqual({ requests: [10_000], hasNext: true, lastKey: ["10000", "0"] });
    // Rows of the same second as the last row may precede the last row; rows of earlier seconds may not.
    expect(await list("rare", 4, 9)).toEqual({ requests: [10_000, 4], hasNext: true, lastKey: ["4", "0"] });
    expect(await list("rare", 5, 9)).toEqual({ requests: [10_000], hasNext: false });
    expect(await list(undefined, 10_003, 9)).toEqual({ requests: [10_004, 10_003], hasNext: false });
  });
});
