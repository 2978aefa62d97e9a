/**
 * Checks that every acknowledged event is counted exactly once. 8 senders report events, repeat each other's events, and send a request again if its
 * response did not arrive. While the senders send, the server is killed many times. At the end, names, counts, exact sums and the log are equal to
 * the senders' ledger.
 */
import { expect, test } from "bun:test";
import { sharedPostgres } from "#harness/postgres-cluster";
import { tries } from "#harness/proof";
import { type Server, startServer, temporaryFolder, worldFile } from "#harness/server";

const SENDERS = 8;
const APP = "1001";
const world = { apps: [{ id: APP, name: "Shop", secret: "s3cret" }] };
const NAMES = ["pf_mobile_purchase", "level up", "share"];
const CURRENCIES = ["EUR", "USD", "JPY"];
/** The fraction of a request's events that were already sent in earlier requests. */
const REPEATED = 0.25;

interface LedgerEvent {
  readonly _eventName: string;
  readonly event_id: string;
  readonly _valueToSum: string;
  readonly pf_currency: string;
}

interface Ledger {
  readonly acknowledged: LedgerEvent[];
  requests: number;
  isOver: boolean;
}

const oneOf = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T;

function newEvent(sender: number, number: number): LedgerEvent {
  const cents = String(Math.floor(Math.random() * 1e9)).padStart(3, "0");
  return {
    _eventName: oneOf(NAMES),
    event_id: `s${sender}-${number}`,
    _valueToSum: `${cents.slice(0, -2)}.${cents.slice(-2)}`,
    pf_currency: oneOf(CURRENCIES),
  };
}

const report = (base_url: string, events: readonly object[]): Promise<number> =>
  post(base_url, { event: "CUSTOM_APP_EVENTS", advertiser_id: "device", custom_events: events });

async function post(base_url: string, body: object): Promise<number> {
  const response = await fetch(`${base_url}/v26.0/${APP}/activities`, {
    method: "POST",
    headers: { authorization: `Bearer ${APP}|s3cret`, "content-type": "application/json", "x-forwarded-for": "203.0.113.7" },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
  return response.status;
}

/** Sends requests until the test has closed the ledger. `address` returns the present address of the server, which changes with each kill. */
async function send(address: () => string, ledger: Ledger, sender: number): Promise<void> {
  for (let number = 0; !ledger.isOver; ) {
    const count = 1 + Math.floor(Math.random() * 5);
    const fresh = Array.from({ length: count }, () => newEvent(sender, number++));
    const repeated = ledger.acknowledged.length === 0 ? [] : fresh.filter(() => Math.random() < REPEATED).map(() => oneOf(ledger.acknowledged));
    await sendUntilAcknowledged(address, [...fresh, ...repeated]);
    ledger.acknowledged.push(...fresh);
    ledger.requests++;
  }
}

/** Sends a request until it is acknowledged: like a client that gets no response, it repeats the same request with the same ids. */
async function sendUntilAcknowledged(address: () => string, events: readonly LedgerEvent[]): Promise<void> {
  for (;;) {
    try {
      const status = await report(address(), events);
      if (status === 200) return;
      if (status !== 503) throw new Error(`the server returned ${status}`);
    } catch (error) {
      if (error instanceof Error && error.message.startsWith("the server returned")) throw error;
    }
    await Bun.sleep(20);
  }
}

const control = async (server: Server, path: string): Promise<Response> =>
  fetch(`${server.control_url}/v1/worlds/default/app-events/${APP}${path}`, { headers: { authorization: `Bearer ${server.control_key}` } });

const cents = (decimal: string): bigint => {
  const [whole = "0", fraction = ""] = decimal.split(".");
  return BigInt(whole) * 100n + BigInt(fraction.padEnd(2, "0"));
};

async function expectLedger(server: Server, events: readonly LedgerEvent[]): Promise<void> {
  const { data } = (await (await control(server, "/names")).json()) as { data: { name: string; count: number; sums: Record<string, string> }[] };
  for (const name of NAMES) {
    const own = events.filter(({ _eventName }) => _eventName === name);
    const counted = data.find((entry) => entry.name === name);
    expect({ name, count: counted?.count }).toEqual({ name, count: own.length });
    for (const currency of CURRENCIES) {
      const sum = own.filter(({ pf_currency }) => pf_currency === currency).reduce((total, { _valueToSum }) => total + cents(_valueToSum), 0n);
      expect({ name, currency, sum: cents(counted?.sums[currency] ?? "0") }).toEqual({ name, currency, sum });
    }
  }
  const lines = (await (await control(server, "/export")).text()).trimEnd().split("\n");
  const logged = lines.map((line) => (JSON.parse(line) as { event_id: string }).event_id).sort();
  expect(logged).toEqual(events.map(({ event_id }) => event_id).sort());
}

async function killAndCompare(data: string): Promise<void> {
  const ledger: Ledger = { acknowledged: [], requests: 0, isOver: false };
  let server = await startServer(["--data", data, "--world", worldFile(world)]);
  const senders = Array.from({ length: SENDERS }, (_, sender) => send(() => server.base_url, ledger, sender));
  for (let round = 0; round < tries(3, 20); round++) {
    const before = ledger.requests;
    // Each kill of the server comes at a different moment of the sending.
    while (ledger.requests < before + 150 + round * 23) await Bun.sleep(1);
    await server.kill();
    server = await startServer(["--data", data]);
  }
  ledger.isOver = true;
  await Promise.all(senders);
  expect(ledger.acknowledged.length).toBeGreaterThan(1_000);
  await expectLedger(server, ledger.acknowledged);
  // If the server is stopped in an orderly way, no event stays only in memory either.
  await server.stop();
  server = await startServer(["--data", data]);
  for (const event of ledger.acknowledged.slice(-50)) expect(await report(server.base_url, [event])).toBe(200);
  await expectLedger(server, ledger.acknowledged);
  await server.stop();
}

/** Starts 50 senders that each report 30 new names, one at a time, to one of the servers. */
async function fillNames(servers: readonly Server[]): Promise<void> {
  const statuses = await Promise.all(
    Array.from({ length: 50 }, async (_, sender) => {
      const { base_url } = servers[sender % servers.length] as Server;
      const own: number[] = [];
      for (let name = 0; name < 30; name++) own.push(await report(base_url, [{ _eventName: `name ${sender} ${name}` }]));
      return own;
    }),
  );
  expect(
    Object.fromEntries(
      Map.groupBy(statuses.flat(), String)
        .entries()
        .map(([status, all]) => [status, all.length]),
    ),
  ).toEqual({ 200: 1_000, 400: 500 });
  const { data } = (await (await control(servers[0] as Server, "/names")).json()) as { data: { count: number }[] };
  expect({ names: data.length, events: data.reduce((sum, { count }) => sum + count, 0) }).toEqual({ names: 1_000, events: 1_000 });
}

test("D-71: killed again and again, SQLite counts every acknowledged event once", () => killAndCompare(`${temporaryFolder()}/data`), 3_600_000);

test("D-71: killed again and again, PostgreSQL counts every acknowledged event once", async () => {
  await killAndCompare(await (await sharedPostgres()).newDatabase());
}, 3_600_000);

test("D-71: two processes that get the same events at the same moment count each once", async () => {
  const data = await (await sharedPostgres()).newDatabase();
  const servers = [await startServer(["--data", data, "--world", worldFile(world)]), await startServer(["--data", data])] as const;
  const events: LedgerEvent[] = [];
  for (let round = 0; round < tries(40, 1_000); round++) {
    const fresh = Array.from({ length: 10 }, (_, i) => newEvent(round, i));
    events.push(...fresh);
    const statuses = await Promise.all([...fresh, ...fresh].map((event, i) => report(servers[i % 2 === 0 ? 0 : 1].base_url, [event])));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(await Promise.all(servers.map(({ base_url }) => report(base_url, fresh.toReversed())))).toEqual([200, 200]);
  }
  await expectLedger(servers[1], events);
}, 3_600_000);

test("I1-30: of installs of one device that two processes get at the same moment one counts", async () => {
  const data = await (await sharedPostgres()).newDatabase();
  const servers = [await startServer(["--data", data, "--world", worldFile(world)]), await startServer(["--data", data])] as const;
  const devices = Array.from({ length: tries(40, 1_000) }, (_, round) => `device ${round}`);
  for (const advertiser_id of devices) {
    const install = { event: "MOBILE_APP_INSTALL", advertiser_id };
    const statuses = await Promise.all(Array.from({ length: 8 }, (_, i) => post(servers[i % 2 === 0 ? 0 : 1].base_url, install)));
    expect(statuses).toEqual(Array(8).fill(200));
  }
  const lines = (await (await control(servers[1], "/export")).text()).trimEnd().split("\n");
  const counted = lines.map((line) => (JSON.parse(line) as { advertiser_id: string }).advertiser_id);
  // The report lists the devices one after the other, those with the newest events first.
  expect(counted).toEqual(devices.toReversed());
}, 3_600_000);

test("LIM-1: 50 senders with new names use exactly the 1,000 names of an app, on SQLite", async () => {
  await fillNames([await startServer(["--data", `${temporaryFolder()}/data`, "--world", worldFile(world)])]);
});

test("LIM-1: 50 senders with new names at two processes use exactly the 1,000 names, on PostgreSQL", async () => {
  const data = await (await sharedPostgres()).newDatabase();
  await fillNames([await startServer(["--data", data, "--world", worldFile(world)]), await startServer(["--data", data])]);
});
