/**
 * Checks that an accepted upload is read to its end. The server is killed many times while it reads a feed file. After the last start, the feed is
 * complete and no item is there twice. Until the upload has ended, the feed has its old items.
 */
import { expect, test } from "bun:test";
import { until } from "#harness/live/connections";
import { sharedPostgres } from "#harness/postgres-cluster";
import { childrenOf } from "#harness/processes/children";
import { tries } from "#harness/proof";
import { type Server, startServer, temporaryFolder, worldFile } from "#harness/server";
import { cafe } from "#harness/worlds";

const ROWS = tries(40_000, 1_000_000);
const FEED = "8101";
const old = (id: string) => ({ retailer_id: id, name: id, url: "https://a.example/", image_url: "https://a.example/i.png" });
const world = {
  ...cafe,
  catalogs: [{ id: "8001", page: "2001", name: "Books" }],
  // One of the feed's old items is also in the new file, and keeps its id.
  product_feeds: [{ id: FEED, catalog: "8001", items: [old("old"), { ...old("r7"), id: "770007" }] }],
  tokens: [...cafe.tokens, { token: "reader", type: "user", app: "1001", user: "3001", scopes: ["catalog_management"] }],
};

function* file(): Generator<Uint8Array> {
  yield Buffer.from("retailer_id,name,url,image_url\n");
  for (let from = 0; from < ROWS; from += 1_000) {
    let text = "";
    for (let i = from; i < from + 1_000; i++) text += `r${i},Book ${i},https://a.example/${i},https://a.example/${i}.png\n`;
    yield Buffer.from(text);
  }
}

interface Report {
  readonly status: string;
  readonly rows: number;
  readonly [count: string]: unknown;
}

async function control(server: Server, path: string, init: RequestInit = {}): Promise<Report> {
  const headers = { authorization: `Bearer ${server.control_key}` };
  const response = await fetch(`${server.control_url}/v1/worlds/default/feeds/${FEED}/uploads${path}`, { ...init, headers });
  expect(response.status).toBeLessThan(300);
  return (await response.json()) as Report;
}

interface Page {
  readonly data: readonly { readonly id: string; readonly retailer_id: string }[];
  readonly paging: { readonly next?: string };
  readonly summary: { readonly total_count: number };
}

const bearer = { headers: { authorization: "Bearer reader" } };
const readPage = async (address: string): Promise<Page> => (await (await fetch(address, bearer)).json()) as Page;
const firstPage = (server: Server) => `${server.base_url}/v25.0/${FEED}/articles_and_publications?summary=true&limit=100&fields=retailer_id`;

async function expectComplete(server: Server): Promise<void> {
  const ids = new Set<string>();
  const retailerIds = new Set<string>();
  const seventh: string[] = [];
  let count = 0;
  for (let next: string | undefined = firstPage(server); next !== undefined; ) {
    const { data, paging, summary }: Page = await readPage(next);
    expect(summary.total_count).toBe(ROWS);
    for (const { id, retailer_id } of data) {
      count++;
      ids.add(id);
      retailerIds.add(retailer_id);
      if (retailer_id === "r7") seventh.push(id);
    }
    next = paging.next;
  }
  expect({ count, ids: ids.size, retailerIds: retailerIds.size, seventh }).toEqual({
    count: ROWS,
    ids: ROWS,
    retailerIds: ROWS,
    seventh: ["770007"],
  });
  for (let i = 0; i < ROWS; i++) if (!retailerIds.has(`r${i}`)) throw new Error(`r${i} is missing`);
}

async function killAndCheck(data: string, kills: number): Promise<void> {
  let server = await startServer(["--data", data, "--world", worldFile(world)]);
  const { n } = await control(server, "", { method: "POST", body: new Blob([...file()]) });
  for (let kill = 1; kill <= kills; kill++) {
    // Each kill of the server comes at a different moment of the reading. After a kill, the server reports the progress of the killed run until the
    // next run begins.
    const from = (await control(server, `/${n}`)).rows;
    let report: Report;
    do {
      await Bun.sleep(2);
      report = await control(server, `/${n}`);
    } while (report.status !== "done" && (report.rows === from || report.rows < (ROWS * kill) / (kills + 2)));
    expect(report.status).toBe("running");
    expect((await readPage(firstPage(server))).summary.total_count).toBe(2);
    await server.kill();
    server = await startServer(["--data", data]);
    expect((await readPage(firstPage(server))).summary.total_count).toBe(2);
  }
  let report: Report;
  do report = await control(server, `/${n}?within_ms=10000`);
  while (report.status === "pending" || report.status === "running");
  const counts = { rows: ROWS, items: ROWS, items_added: ROWS - 1, items_replaced: 1, items_removed: 1, bad_rows: 0, duplicates: 0 };
  expect(report).toMatchObject({ status: "done", ...counts });
  await expectComplete(server);
  expect(await server.stop()).toBe(0);
}

test("a feed file whose server is killed in the middle is read to its end on SQLite", () => killAndCheck(temporaryFolder(), tries(2, 6)), 1_800_000);

test(
  "a feed file whose server is killed in the middle is read to its end on PostgreSQL",
  async () => killAndCheck(await (await sharedPostgres()).newDatabase(), tries(1, 3)),
  1_800_000,
);

/** Kills the process that reads a file. Resolves when another process reads the file, or when the upload has ended. */
async function killReader(server: Server, n: unknown): Promise<void> {
  let reader: number | undefined;
  await until(() => {
    [reader] = childrenOf(server.pid);
    return reader !== undefined;
  });
  process.kill(reader as number, "SIGKILL");
  for (;;) {
    const next = childrenOf(server.pid);
    if (!next.includes(reader as number) && next.length > 0) return;
    if ((await control(server, `/${n}`)).status !== "running") return;
  }
}

async function killReaders(data: string): Promise<void> {
  let server = await startServer(["--data", data, "--world", worldFile(world)]);
  const { n } = await control(server, "", { method: "POST", body: new Blob([...file()]) });
  await killReader(server, n);
  await killReader(server, n);
  await server.kill();
  server = await startServer(["--data", data]);
  await killReader(server, n);
  expect(await control(server, `/${n}?within_ms=60000`)).toMatchObject({
    ...{ status: "failed", items: 0 },
    problem: "the file cannot be read: 3 processes ended while they read it",
  });
  expect((await readPage(firstPage(server))).summary.total_count).toBe(2);
  expect(await server.stop()).toBe(0);
}

test("D-314: a file whose readers die is given up after the third, though the server began again on SQLite", () => killReaders(temporaryFolder()));

test("D-314: a file whose readers die is given up after the third, though the server began again on PostgreSQL", async () =>
  killReaders(await (await sharedPostgres()).newDatabase()));
