/** D-350: two servers behind a proxy are replaced one after the other while clients write. Checks that no write is lost and no request fails. */
import { expect, test } from "bun:test";
import { sharedPostgres } from "#harness/postgres-cluster";
import { freePort } from "#harness/processes/free-port";
import { tries } from "#harness/proof";
import { type Server, startServer, threeTokens } from "#harness/server";
import { proxyNames, startDeployed } from "./start-proxy.ts";

const WRITERS = 8;
const ROUNDS = tries(1, 5);
/** The number of writes after the proxy has found a new server and before the next server is replaced. */
const WRITES_BETWEEN = 200;

const { query, headers } = threeTokens("demo-page-token");
const LABELS = `/v26.0/2001/custom_labels?${query}`;

/** The acknowledged labels, and the number of responses and failures, by their status or error. */
class Ledger {
  readonly acknowledged = new Set<string>();
  readonly results = new Map<string, number>();
  #made = 0;

  constructor(
    readonly url: string,
    /** Whether clients keep their connections and use them for further requests. */
    readonly isKept: boolean,
  ) {}

  async write(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const result = await this.#create(`label ${this.#made++}`).catch((error: Error) => `${error.name}: ${error.message}`);
      this.results.set(result, (this.results.get(result) ?? 0) + 1);
    }
  }

  async #create(page_label_name: string): Promise<string> {
    const body = new URLSearchParams({ page_label_name });
    const response = await fetch(this.url + LABELS, { method: "POST", headers, body, keepalive: this.isKept });
    const { id } = (await response.json()) as { id?: string };
    if (response.status === 200) this.acknowledged.add(String(id));
    return String(response.status);
  }

  async grows(by: number): Promise<void> {
    for (const goal = this.acknowledged.size + by; this.acknowledged.size < goal; ) await Bun.sleep(5);
  }
}

async function labelsOf(server: Server): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let next: string | undefined = `${server.base_url}${LABELS}&limit=100`; next !== undefined; ) {
    const page = (await (await fetch(next, { headers })).json()) as { data: { id: string }[]; paging?: { next?: string } };
    for (const { id } of page.data) ids.add(id);
    next = page.paging?.next;
  }
  return ids;
}

/** Waits until the server drains: it is not ready, but still serves requests. */
async function drains({ base_url }: Server): Promise<void> {
  while ((await fetch(`${base_url}/readyz`, { keepalive: false })).status !== 503) await Bun.sleep(5);
  const read = await fetch(`${base_url}${LABELS}&limit=1`, { headers, keepalive: false });
  expect({ status: read.status, connection: read.headers.get("connection") }).toEqual({ status: 200, connection: "close" });
}

/** Waits until the proxy sends requests to the server. */
async function isUsed({ control_url }: Server): Promise<void> {
  while (!/plaza_calls_total\{operation="createLabel",status="200"\}/.test(await (await fetch(`${control_url}/metrics`)).text())) await Bun.sleep(20);
}

test.each(proxyNames)(
  "a rollout behind %s loses no acknowledged write, and no request fails",
  async (name) => {
    const database = await (await sharedPostgres()).newDatabase();
    const ports = [freePort(), freePort()];
    const start = (port: number) =>
      startServer(["--data", database, "--port", String(port), "--drain-delay-ms", "5000", "--trusted-proxies", "127.0.0.0/8", "--quiet"], {
        PLAZA_LABELS_PER_PAGE_MAX: "1000000",
      });
    const servers: Server[] = [];
    for (const port of ports) servers.push(await start(port));
    const addresses = servers.map(({ base_url }) => new URL(base_url).host) as [string, string];
    const proxy = await startDeployed(name, addresses);
    // nginx closes the idle connections of clients when it reloads its settings, and a client's request may come at that moment.
    const ledger = new Ledger(proxy.url, name === "haproxy");
    let isOver = false;
    const working = Promise.all(Array.from({ length: WRITERS }, () => ledger.write(() => isOver)));
    for (const server of servers) await isUsed(server);
    for (let round = 0; round < ROUNDS; round++) {
      for (const [at, address] of addresses.entries()) {
        await ledger.grows(WRITES_BETWEEN);
        await proxy.take("out", address);
        const ending = servers[at] as Server;
        const ended = ending.stop();
        await drains(ending);
        expect(await ended).toBe(0);
        const replaced = await start(ports[at] as number);
        servers[at] = replaced;
        await proxy.take("in", address);
        await isUsed(replaced);
      }
    }
    await ledger.grows(WRITES_BETWEEN);
    isOver = true;
    await working;
    expect([...ledger.results]).toEqual([["200", ledger.acknowledged.size]]);
    for (const server of servers) expect((await labelsOf(server)).isSupersetOf(ledger.acknowledged)).toBe(true);
  },
  300_000,
);
