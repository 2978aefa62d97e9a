import { expect, test } from "bun:test";
import { parquetMetadata, parquetReadObjects } from "hyparquet";
import { KEY, openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";

const NOW = 1_795_000_000;
const world = { clock: { now: NOW, frozen: true }, apps: [{ id: "1001", name: "Shop", secret: "s" }] };

async function open(database: "sqlite" | "postgres") {
  const { app, plaza } = await openControl({ database, world });
  const report = (body: Record<string, unknown>) =>
    plaza.post("/v26.0/1001/activities", { bearer: "1001|s", headers: { "x-forwarded-for": "1.2.3.4" }, body });
  const send = (custom_events: unknown, more = {}) => report({ event: "CUSTOM_APP_EVENTS", advertiser_id: "a", custom_events, ...more });
  const get = (query: string) => app.request(`/v1/worlds/default/app-events/1001/export${query}`, { headers: { authorization: `Bearer ${KEY}` } });
  const lines = async (query = "") =>
    (await (await get(query)).text())
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const parquet = async (query = "") => read(await (await get(`?format=parquet${query}`)).arrayBuffer());
  return { report, send, get, lines, parquet };
}

/** Rows as the other export writes them, and the file's own words about itself. */
async function read(file: ArrayBuffer) {
  const metadata = parquetMetadata(file);
  const amount = metadata.schema.find(({ name }) => name === "value_to_sum");
  const type = { ...amount };
  // The reader would make a binary float of a decimal; without its type it is what the file holds, an integer.
  delete amount?.converted_type;
  delete amount?.logical_type;
  const rows = (await parquetReadObjects({ file, metadata })).map((row) => {
    const kept = Object.entries(row).filter(([, value]) => value !== undefined && value !== null);
    return Object.fromEntries(kept.map(([name, value]) => [name, value instanceof Date ? value.getTime() / 1_000 : value]));
  });
  return { rows, groups: metadata.row_groups.map(({ num_rows }) => Number(num_rows)), type };
}

/** As the file holds it: millionths. */
const inMillionths = ({ value_to_sum, ...entry }: { value_to_sum?: string }) => {
  if (value_to_sum === undefined) return entry;
  const [whole = "", fraction = ""] = value_to_sum.split(".");
  return { ...entry, value_to_sum: BigInt(whole + fraction.padEnd(6, "0")) };
};

onEachDatabase("the export as Parquet", (database) => {
  test("EVT-2: it holds what the lines hold, and decimals exactly", async () => {
    const { report, send, get, lines, parquet } = await open(database);
    await send([
      {
        _eventName: "all",
        event_id: "ü\u{1f600}",
        _valueToSum: "123456789012.123456",
        pf_currency: "EUR",
        _logTime: NOW - 86_401,
        text: "line\nbreak",
        n: 7,
      },
      { _eventName: "negative", _valueToSum: "-0.1", advertiser_tracking_enabled: 0 },
      { _eventName: "none" },
    ]);
    await report({ event: "MOBILE_APP_INSTALL", attribution: "a".repeat(22), application_tracking_enabled: 0, ud: { em: "not hashed" } });
    const extinfo = ["a2", "org.shop", "1", "1.0", "17", "phone", "de_DE", "CET", "none", "1080", "1920", "3", "8", "64", "32", "Europe/Berlin"];
    await send([{ _eventName: "device" }], { extinfo: JSON.stringify(extinfo), ud: { em: "a".repeat(64) } });
    const { rows, type } = await parquet();
    const expected = await lines();
    expect(expected.length).toBe(5);
    expect(rows).toEqual(expected.map(inMillionths));
    expect(rows.map(({ value_to_sum }) => value_to_sum)).toEqual([undefined, undefined, undefined, -100000n, 123456789012123456n]);
    expect(type).toMatchObject({ type: "INT64", converted_type: "DECIMAL", precision: 18, scale: 6 });
    expect((await get("?format=parquet")).headers.get("content-type")).toBe("application/vnd.apache.parquet");
    expect((await get("?format=csv")).status).toBe(400);
  });

  test("it is written in groups of rows, and filtered like the lines", async () => {
    const { send, lines, parquet } = await open(database);
    for (let request = 0; request < 3; request++)
      await send(
        Array.from({ length: 5_000 }, (_, i) => ({ _eventName: i % 2 === 0 ? "even" : "odd", event_id: `${request}-${i}`, _valueToSum: i })),
      );
    const { rows, groups } = await parquet();
    expect(groups).toEqual([5_000, 5_000, 5_000]);
    expect(rows).toEqual((await lines()).map(inMillionths));
    const odd = await parquet("&name=odd");
    expect(odd.groups).toEqual([5_000, 2_500]);
    expect(odd.rows).toEqual((await lines("?name=odd")).map(inMillionths));
  });

  test("a log without events is a file without rows", async () => {
    const { parquet } = await open(database);
    expect(await parquet()).toMatchObject({ rows: [], groups: [] });
  });
});
