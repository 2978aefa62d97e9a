/**
 * Checks that acknowledged writes are durable. The server is killed many times while 64 writers write. After each restart of the server, every
 * acknowledged label and persona exists, and none exists only in part.
 */
import { expect, test } from "bun:test";
import { sharedPostgres } from "#harness/postgres-cluster";
import { tries } from "#harness/proof";
import { type Server, startServer, temporaryFolder, threeTokens, worldFile } from "#harness/server";
import { cafe } from "#harness/worlds";

const WRITERS = 64;
const { query, headers } = threeTokens("page");

/** The names of the acknowledged labels and personas, by their ids. */
interface Ledger {
  readonly labels: Map<string, string>;
  readonly personas: Map<string, string>;
  sent: number;
}

async function write(server: Server, ledger: Ledger, name: string): Promise<void> {
  const isLabel = ledger.sent % 2 === 0;
  ledger.sent++;
  const edge = isLabel ? "custom_labels" : "personas";
  const body = isLabel ? { page_label_name: name } : { name, profile_picture_url: "https://example.com/p.png" };
  const response = await fetch(`${server.base_url}/v26.0/2001/${edge}?${query}`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  const { id } = (await response.json()) as { id: string };
  (isLabel ? ledger.labels : ledger.personas).set(id, name);
}

/** Writes until the server is gone. Any failure except a lost connection fails the test. */
async function writeUntilGone(server: Server, ledger: Ledger, writer: number, round: number): Promise<void> {
  for (let i = 0; ; i++) {
    try {
      await write(server, ledger, `r${round} w${writer} n${i}`);
    } catch (error) {
      if (error instanceof Error && /^\d{3} /.test(error.message)) throw error;
      return;
    }
  }
}

async function listAll(server: Server, edge: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  let next: string | undefined = `${server.base_url}/v26.0/2001/${edge}?limit=100&${query}`;
  while (next !== undefined) {
    const { data, paging } = (await (await fetch(next, { headers })).json()) as {
      data: { id: string; name: string }[];
      paging: { next?: string };
    };
    expect(data.filter(({ id }) => found.has(id))).toEqual([]);
    for (const { id, name } of data) found.set(id, name);
    next = paging.next;
  }
  return found;
}

function expectAll(acknowledged: Map<string, string>, stored: Map<string, string>): void {
  const lost = [...acknowledged].filter(([id, name]) => stored.get(id) !== name);
  expect(lost).toEqual([]);
}

/** Checks that listed nodes are whole: each can be read by its id, and has the same name. */
async function expectWhole(server: Server, stored: Map<string, string>, field: string): Promise<void> {
  const sample = [...stored].slice(0, 200);
  for (const [id, name] of sample) {
    const node = (await (await fetch(`${server.base_url}/v26.0/${id}?${query}`, { headers })).json()) as Record<string, string>;
    expect(node[field]).toBe(name);
  }
}

async function killAndCheck(data: string): Promise<void> {
  const ledger: Ledger = { labels: new Map([["5001", "vip"]]), personas: new Map([["5101", "Bo"]]), sent: 0 };
  const world = worldFile(cafe);
  const limit = { PLAZA_LABELS_PER_PAGE_MAX: "10000000" };
  let server = await startServer(["--data", data, "--world", world], limit);
  for (let round = 0; round < tries(3, 20); round++) {
    const writers = Array.from({ length: WRITERS }, (_, writer) => writeUntilGone(server, ledger, writer, round));
    const before = ledger.labels.size + ledger.personas.size;
    // Each kill of the server comes at a different moment of the writing.
    while (ledger.labels.size + ledger.personas.size < before + 300 + round * 37) await Bun.sleep(1);
    await server.kill();
    await Promise.all(writers);
    server = await startServer(["--data", data], limit);
    const labels = await listAll(server, "custom_labels");
    const personas = await listAll(server, "personas");
    expectAll(ledger.labels, labels);
    expectAll(ledger.personas, personas);
    await expectWhole(server, labels, "page_label_name");
    await expectWhole(server, personas, "name");
  }
  expect(await server.stop()).toBe(0);
}

test("killed in the middle of 64 writers, SQLite keeps everything acknowledged", () => killAndCheck(temporaryFolder()), 1_800_000);

test(
  "killed in the middle of 64 writers, PostgreSQL keeps everything acknowledged",
  async () => killAndCheck(await (await sharedPostgres()).newDatabase()),
  1_800_000,
);
