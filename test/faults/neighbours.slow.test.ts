/**
 * Checks that another app is served while one client misbehaves: none of its requests is refused, health responds, and memory stays bounded. Both
 * clients have the same address, so only their apps tell them apart. The times of requests are judged only in proofs, not in test runs.
 */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { afterThisTest } from "#harness/cleanup";
import { feedWorld } from "#harness/feeds";
import { exchange } from "#harness/http/raw-http";
import { isProving, tries } from "#harness/proof";
import { type Server, startServer, threeTokens, worldFile } from "#harness/server";

const MISBEHAVING_MS = tries(600, 10_000);
/** The limit of connections, which is lower than the number that some misbehaving clients open. */
const CONNECTIONS_MAX = 1_500;
const FILES_MAX = 4_096;
/** The goals of a proof. */
const P99_MS_MAX = 1_000;
const HEALTH_MS_MAX = 100;
/**
 * Types of misbehaviour that keep the processor busy with served requests. Other work on the processor, such as the health check, is done later then,
 * but at most as late as a request.
 */
const FILLING: readonly string[] = ["deep JSON", "reads", "guessed tokens", "repeated events", "long digits", "nested batches", "hostile feeds"];
const MEMORY_MB_MAX = 512;

/** The number of worlds that strangers name. Strangers also name worlds that do not exist. */
const WORLDS = 50;
/** The number of worlds that are opened with tokens. The client names more worlds than may be open at a time. */
const OPENED_WORLDS = tries(60, 600);

const world = {
  ...feedWorld,
  tokens: [...feedWorld.tokens, { token: "other-reader", type: "user", app: "1002", user: "3001", scopes: ["catalog_management"] }],
  labels: Array.from({ length: 500 }, (_, at) => ({ id: String(500_000 + at), page: "2001", name: `label ${at}` })),
};

/** The results of the neighbour, i.e. the app that does not misbehave. */
interface Seen {
  readonly ms: number[];
  readonly healthMs: number[];
  readonly refused: string[];
  readonly memoryMb: number[];
  /** How late the timers of this process fire, because a busy machine makes everything late. */
  readonly lateMs: number[];
}

const tokens = threeTokens("page");

type Ask = (server: Server, n: number) => Promise<string | undefined>;

const statusOf = async (response: Response): Promise<string | undefined> => {
  const text = await response.text();
  return response.status === 200 ? undefined : `${response.status} ${text}`;
};

/**
 * D-98, D-298: the server closes the connection of an address that has waited longest, perhaps just as a client uses it, or before a client on a busy
 * machine has sent the first bytes on a new connection. When the server closes a connection in this way, clients retry once.
 */
const tried =
  (ask: Ask): Ask =>
  (server, n) =>
    ask(server, n).catch(() => ask(server, n));

/** Sends reads, writes, events, and a body that arrives after its head, on kept connections and on new ones. */
const asks: readonly Ask[] = [
  tried(async ({ base_url }) => statusOf(await fetch(`${base_url}/v26.0/2001/personas?${tokens.query}`, tokens))),
  tried(async ({ base_url }) =>
    statusOf(await fetch(`${base_url}/v26.0/5101?fields=name&${tokens.query}`, { headers: { ...tokens.headers, connection: "close" } })),
  ),
  tried(async ({ base_url }, n) =>
    statusOf(
      await fetch(`${base_url}/v26.0/2002/custom_labels?${threeTokens("bar").query}`, {
        method: "POST",
        headers: threeTokens("bar").headers,
        body: new URLSearchParams({ page_label_name: `label ${n}` }),
      }),
    ),
  ),
  tried(async ({ base_url }) =>
    statusOf(
      await fetch(`${base_url}/v26.0/1001/activities`, {
        method: "POST",
        headers: { authorization: "Bearer 1001|s3cret", "content-type": "application/json", "x-forwarded-for": "203.0.113.7" },
        body: JSON.stringify({ event: "CUSTOM_APP_EVENTS", advertiser_id: "device", custom_events: [{ _eventName: "share" }] }),
      }),
    ),
  ),
  async ({ base_url }, n) => {
    const body = `name=Bo${n}&profile_picture_url=https://example.com/bo.png`;
    const head = `POST /v26.0/2001/personas?${tokens.query} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer page\r\nContent-Length: ${body.length}\r\n\r\n`;
    const { responses } = await exchange(Number(new URL(base_url).port), [head, body], { gapMs: 5 });
    return responses[0]?.status === 200 ? undefined : `${responses[0]?.status} ${responses[0]?.body}`;
  },
];

/** The beginning of an encoder's connection, which needs no key yet. */
function shakeHands({ rtmp_url }: Server): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  let received = 0;
  const hello = Buffer.alloc(1_537);
  hello[0] = 3;
  Bun.connect({
    hostname: "127.0.0.1",
    port: Number(new URL(String(rtmp_url).replace("rtmp:", "http:")).port),
    socket: {
      open: (socket) => void socket.write(hello),
      data(socket, bytes) {
        received += bytes.length;
        if (received >= hello.length) socket.end();
      },
      close: () => resolve(received >= hello.length ? undefined : "an encoder was turned away"),
      connectError: (_, error) => resolve(String(error)),
    },
  }).catch((error) => resolve(String(error)));
  return promise;
}

const asksOf = ({ rtmp_url }: Server): readonly Ask[] => (rtmp_url === null ? asks : [...asks, shakeHands]);

async function neighbour(server: Server, seen: Seen, isOver: () => boolean): Promise<void> {
  let n = seen.ms.length;
  const one = async (ask: Ask): Promise<void> => {
    while (!isOver()) {
      const startedMs = performance.now();
      const refused = await ask(server, n++).catch((error) => String(error));
      seen.ms.push(performance.now() - startedMs);
      if (refused !== undefined) seen.refused.push(refused);
      await Bun.sleep(10);
    }
  };
  const health = async (): Promise<void> => {
    while (!isOver()) {
      const startedMs = performance.now();
      const { status } = await fetch(`${server.control_url}/healthz`, { headers: { connection: "close" } });
      seen.healthMs.push(performance.now() - startedMs);
      if (status !== 200) seen.refused.push(`health ${status}`);
      seen.memoryMb.push(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1]) / 1_024);
      const sleptMs = performance.now();
      await Bun.sleep(50);
      seen.lateMs.push(performance.now() - sleptMs - 50);
    }
  };
  await Promise.all([...asksOf(server).map(one), health()]);
}

/** Makes worlds that the client names. `isWithTokens`: the client has a live token of each world, so each of its requests opens a world. */
async function makeWorlds({ control_url, control_key }: Server, isWithTokens: boolean): Promise<void> {
  const headers = { authorization: `Bearer ${control_key}`, "content-type": "application/json" };
  const file = { apps: [{ id: "1002" }], pages: [{ id: "2001" }], tokens: [{ token: "opener", type: "page", app: "1002", page: "2001" }] };
  for (let n = 0; n < (isWithTokens ? OPENED_WORLDS : WORLDS); n++) {
    const body = JSON.stringify({ name: `w${n}`, ...(isWithTokens ? { file } : {}) });
    expect((await fetch(`${control_url}/v1/worlds`, { method: "POST", headers, body })).status).toBe(201);
  }
}

const quantile = (values: readonly number[], part: number): number =>
  values.toSorted((one, other) => one - other)[Math.floor(part * values.length)] ?? 0;

function misbehave(way: string, server: Server): { begun(): number; end(): Promise<void> } {
  const client = Bun.spawn(
    [process.execPath, `${import.meta.dir}/misbehaving-client.ts`, way, server.base_url, server.rtmp_url ?? "", String(OPENED_WORLDS)],
    {
      stdout: "pipe",
      stderr: "inherit",
    },
  );
  let begun = 0;
  void (async () => {
    for await (const text of client.stdout.pipeThrough(new TextDecoderStream())) begun = Number(text.trim().split("\n").at(-1));
  })();
  const end = async (): Promise<void> => {
    client.kill("SIGKILL");
    await client.exited;
  };
  afterThisTest(end);
  return { begun: () => begun, end };
}

const ways = [
  "padding",
  "deep JSON",
  "tarpits",
  "slow heads",
  "large heads",
  "empty lines",
  "announced bodies",
  "silent bodies",
  "idle connections",
  "batches",
  "slow readers",
  "reads",
  "guessed tokens",
  "repeated events",
  "long digits",
  "one long number",
  "nested fields",
  "nested batches",
  "hostile feeds",
  "named worlds",
  "opened worlds",
  "encoders without a key",
];

test.each(ways)(
  "a neighbour is served while a client misbehaves: %s",
  async (way) => {
    const server = await startServer(
      [
        ...["--data", ":memory:", "--world", worldFile(world), "--connections-max", String(CONNECTIONS_MAX)],
        ...(way.startsWith("encoders") ? ["--rtmp-port", "0"] : []),
        ...(way === "opened worlds" ? ["--open-worlds-max", String(OPENED_WORLDS / 3)] : []),
      ],
      {},
      FILES_MAX,
    );
    const seen: Seen = { ms: [], healthMs: [], refused: [], memoryMb: [], lateMs: [] };
    if (way.endsWith(" worlds")) await makeWorlds(server, way === "opened worlds");
    if (server.rtmp_url !== null) while ((await shakeHands(server)) !== undefined) await Bun.sleep(10);
    for (const [n, ask] of asks.entries()) expect(await ask(server, -n - 1)).toBeUndefined();
    const client = misbehave(way, server);
    while (client.begun() === 0) await Bun.sleep(10);
    const untilMs = performance.now() + MISBEHAVING_MS;
    await neighbour(server, seen, () => performance.now() > untilMs);
    await client.end();
    const [p50, p99, health] = [quantile(seen.ms, 0.5), quantile(seen.ms, 0.99), quantile(seen.healthMs, 0.99)];
    const memory = Math.max(...seen.memoryMb);
    const turnedAway =
      (await (await fetch(`${server.control_url}/metrics`)).text()).match(/^plaza_(calls_turned_away|connections_evicted).*$/gm) ?? [];
    console.log(
      `${way}: begun ${client.begun()}; the neighbour's ${seen.ms.length} requests took ${p50.toFixed(1)} ms (p50), ${p99.toFixed(1)} ms (p99); ` +
        `health ${health.toFixed(1)} ms (p99), on a machine that is ${quantile(seen.lateMs, 0.99).toFixed(1)} ms late (p99); memory ${memory.toFixed(0)} MB; ${turnedAway.join(", ")}`,
    );
    expect(seen.refused).toEqual([]);
    expect(memory).toBeLessThan(MEMORY_MB_MAX);
    if (isProving) {
      expect(p99).toBeLessThanOrEqual(P99_MS_MAX);
      expect(health).toBeLessThanOrEqual(FILLING.includes(way) ? P99_MS_MAX : HEALTH_MS_MAX);
    }
  },
  120_000,
);

test("thousands of connections leave open files to others, however few there are", async () => {
  const filesMax = 200;
  const server = await startServer(["--data", ":memory:", "--world", worldFile(world)], {}, filesMax);
  const client = misbehave("idle connections", server);
  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(`${server.control_url}/metrics`)).text();
    const value = text.split("\n").find((line) => line.startsWith(`${name} `));
    if (value === undefined) throw new Error(`no ${name} in: ${text}`);
    return Number(value.slice(name.length));
  };
  while ((await metric("plaza_connections_evicted_total")) < 2_000) await Bun.sleep(10);
  expect(await metric("plaza_connections")).toBeLessThan(filesMax);
  await client.end();
  for (const [n, ask] of asks.entries()) expect(await ask(server, n)).toBeUndefined();
});
