/** D-421: a world is moved to another database under load, and the process that moves it is killed at each step. */
import { expect, test } from "bun:test";
import { Client } from "pg";
import { afterThisTest } from "#harness/cleanup";
import { sharedPostgres } from "#harness/postgres-cluster";
import { type Receiver, startReceiver } from "#harness/receiver";
import { type Server, startServer } from "#harness/server";
import { lockKey } from "#storage/postgres/transaction";
import { startOwnServer } from "../own-server.ts";
import { createLabel, listLabels, subscribed, worldOf } from "../server-of-worlds.ts";

const urls = async () => {
  const cluster = await sharedPostgres();
  return { eu1: await cluster.newDatabase(), eu2: await cluster.newDatabase() };
};

const optionOf = (databases: Record<string, string>): string =>
  Object.entries(databases)
    .map((pair) => pair.join("="))
    .join(",");

interface Addressed {
  readonly base_url: string;
  readonly control_url: string;
  readonly control_key?: string;
}

async function ask({ control_url, control_key }: Addressed, method: string, path: string, body?: object) {
  const headers = { authorization: `Bearer ${control_key}` };
  const response = await fetch(`${control_url}/v1/worlds${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into any response.
  return { status: response.status, body: (await response.json()) as any };
}

/**
 * Creates labels in a world until `stop` is called, and records which labels the server acknowledged. No other client creates labels in this world.
 */
class Ledger {
  readonly #created: string[] = [];
  readonly #tried: string[] = [];
  readonly #world: string;
  readonly #work: Promise<void>[];
  #isStopped = false;
  /** Responses that named labels of another world, and unexpected statuses. */
  readonly wrong: string[] = [];

  constructor(world: string, servers: () => readonly Addressed[]) {
    this.#world = world;
    this.#work = [0, 1].map((at) => this.#create(at, servers));
  }

  /** The number of labels that were created so far. */
  get count(): number {
    return this.#created.length;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#work);
  }

  async #create(writer: number, servers: () => readonly Addressed[]): Promise<void> {
    for (let at = 0; !this.#isStopped; at++) {
      const alive = servers();
      const base = `${alive[at % alive.length]?.base_url}/w/${this.#world}`;
      const name = `${writer}-${at}`;
      this.#tried.push(name);
      // A killed server acknowledges nothing, and neither does a server whose world is being moved.
      const status = await createLabel(base, name).catch(() => 503);
      if (status === 200) this.#created.push(name);
      else if (status !== 503) this.wrong.push(`${name} got ${status}`);
      const seen = await listLabels(base, "&limit=3").catch(() => undefined);
      if (seen?.status === 200 && seen.names.some((label) => !/^\d-\d+$/.test(label) && !label.endsWith(` of ${this.#world}`)))
        this.wrong.push(`a list with ${seen.names.join()}`);
    }
  }

  /** Lists the labels that are lost, those that are stored twice, and those that nobody tried to create. */
  async compare(base: string): Promise<object> {
    const stored: string[] = [];
    for (let url: string | undefined = `${base}/v26.0/2001/custom_labels?fields=name&limit=100`; url !== undefined; ) {
      const page: Awaited<ReturnType<typeof listLabels>> = await listLabels(
        url.includes("access_token") ? url : `${url}&access_token=page-token&oauth_token=page-token`,
      );
      expect(page.status).toBe(200);
      stored.push(...page.names.filter((name) => /^\d-\d+$/.test(name)));
      url = page.next;
    }
    return {
      lost: this.#created.filter((name) => !stored.includes(name)),
      twice: stored.filter((name, at) => stored.indexOf(name) !== at),
      foreign: stored.filter((name) => !this.#tried.includes(name)),
      wrong: this.wrong,
    };
  }

  /** Waits until each label has caused a webhook, and returns the labels that have caused more than one. */
  async compareWebhooks({ posts }: Receiver): Promise<object> {
    const told = () => posts.flatMap(({ values }) => (values as { label: { name: string } }[]).map(({ label }) => label.name));
    while (this.#created.some((name) => !told().includes(name))) await Bun.sleep(20);
    return { twice: told().filter((name, at) => told().indexOf(name) !== at) };
  }
}

const CLEAN = { lost: [], twice: [], foreign: [], wrong: [] };

const placeOf = async (server: Addressed, world: string): Promise<string> =>
  (await ask(server, "GET", "")).body.data.find(({ name }: { name: string }) => name === world)?.database;

test("D-421: a world moves there and back while two servers serve it: nothing is lost, twice or of another world", async () => {
  const databases = await urls();
  const [receiver, option] = [startReceiver(), optionOf(databases)];
  const one: Addressed = (await startOwnServer({ databases: option })).plaza.ready;
  const two: Addressed = (await startOwnServer({ databases: option })).plaza.ready;
  const servers = [one, two];
  expect((await ask(one, "POST", "", { name: "orders", database: "eu1", file: subscribed("orders", receiver.url) })).status).toBe(201);
  expect((await ask(one, "POST", "", { name: "still", database: "eu2", file: worldOf("still") })).status).toBe(201);
  expect((await ask(one, "POST", "/orders/snapshots", { name: "s" })).status).toBe(201);
  const [orders, still] = [new Ledger("orders", () => servers), new Ledger("still", () => servers)];
  for (const [server, to] of [
    [one, "eu2"],
    [two, "eu1"],
    [two, "eu2"],
  ] as const) {
    const before = orders.count;
    while (orders.count < before + 10) await Bun.sleep(5);
    expect(await ask(server, "POST", "/orders/move", { to })).toEqual({ status: 200, body: { name: "orders", database: to } });
    expect(await placeOf(one, "orders")).toBe(to);
  }
  const before = orders.count;
  while (orders.count < before + 10) await Bun.sleep(5);
  await Promise.all([orders.stop(), still.stop()]);
  expect(await orders.compare(`${one.base_url}/w/orders`)).toEqual(CLEAN);
  expect(await still.compare(`${two.base_url}/w/still`)).toEqual(CLEAN);
  expect(await orders.compareWebhooks(receiver)).toEqual({ twice: [] });
  // The snapshot has moved to the other database with the world.
  expect((await ask(two, "POST", "/orders/snapshots/s/restore")).status).toBe(200);
  expect((await listLabels(`${one.base_url}/w/orders`)).names.sort()).toEqual(worldOf("orders").labels.map(({ name }) => name));
  expect(await ask(one, "POST", "/orders/move", { to: "eu2" })).toMatchObject({ status: 200 });
  expect(await ask(one, "POST", "/orders/move", { to: "eu9" })).toMatchObject({ status: 422, body: { error: { parameter: "to" } } });
  expect(await ask(one, "POST", "/none/move", { to: "eu2" })).toMatchObject({ status: 404 });
  expect(await ask(one, "POST", "/default/move", { to: "eu2" })).toMatchObject({ status: 409 });
});

/** A session that holds a lock that the mover needs, so that the mover waits at a known step. */
async function session(url: string, ...texts: readonly string[]) {
  const client = new Client({ connectionString: url });
  await client.connect();
  afterThisTest(() => client.end().catch(() => {}));
  for (const text of texts) await client.query(text);
  return client;
}

/** Waits until a session runs a statement that begins with `text`, and waits for a lock of another session. */
async function untilWaiting(url: string, text: string): Promise<void> {
  const client = await session(url);
  const find = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database() AND query LIKE $1";
  while ((await client.query(find, [`${text}%`])).rows.length === 0) await Bun.sleep(5);
  await client.end();
}

const SCHEMA = "plaza_orders";
/** Changes the row of the schema, so that the mover waits when it fences the schema. */
const GRANT = `GRANT USAGE ON SCHEMA ${SCHEMA} TO PUBLIC`;
const LOCK = `SELECT pg_advisory_lock(${lockKey(SCHEMA, "migrations")})`;

/** The databases that take part in one move. `list` is the database that has the list of worlds. */
interface Places {
  readonly from: string;
  readonly to: string;
  readonly list: string;
}

/**
 * Makes the mover wait at one step. The promise of `wait` resolves when the mover waits at this step. The sessions that hold the mover are ended
 * after the mover was killed.
 */
interface Held {
  readonly sessions: Client[];
  wait(): Promise<void>;
}

const steps: Record<string, (places: Places) => Promise<Held>> = {
  async "before the old database is locked"({ from }) {
    return { sessions: [await session(from, LOCK)], wait: () => untilWaiting(from, "SELECT pg_advisory_lock") };
  },
  async "before the copy has tables"({ to }) {
    return { sessions: [await session(to, LOCK)], wait: () => untilWaiting(to, "SELECT pg_advisory_lock") };
  },
  async "after the copy, before the old database is fenced"({ from }) {
    return { sessions: [await session(from, "BEGIN", GRANT)], wait: () => untilWaiting(from, "ALTER SCHEMA") };
  },
  async "after the fence, before the old data is deleted"({ from }) {
    const sessions = [await session(from, "BEGIN", GRANT)];
    return { sessions, wait: async () => void (await afterFence(from, sessions)) };
  },
  async "after the old data is deleted, before the list is changed"({ from, list }) {
    const sessions = [await session(from, "BEGIN", GRANT)];
    const wait = async () => {
      const deleting = await afterFence(from, sessions);
      sessions.push(await session(list, "BEGIN", "SELECT 1 FROM plaza_default.worlds WHERE name = 'orders' FOR UPDATE"));
      await deleting.end();
      await untilWaiting(list, "UPDATE worlds SET database");
    };
    return { sessions, wait };
  },
};

/** Lets a mover that waits for the fence continue until it would delete the old data; there the mover waits for the returned session. */
async function afterFence(url: string, sessions: Client[]): Promise<Client> {
  await untilWaiting(url, "ALTER SCHEMA");
  const next = await session(url);
  const [hold] = sessions.splice(0, 1, next);
  const locked = next.query(LOCK);
  await untilWaiting(url, "SELECT pg_advisory_lock");
  await hold?.end();
  await locked;
  await untilWaiting(url, "SELECT pg_advisory_lock");
  return next;
}

test("D-421: a mover that is killed at any step leaves a move that another server ends, and nothing is lost or twice", async () => {
  const databases = await urls();
  const [receiver, option] = [startReceiver(), optionOf(databases)];
  const { plaza } = await startOwnServer({ databases: option });
  const other = plaza.ready;
  expect((await ask(other, "POST", "", { name: "orders", database: "eu1", file: subscribed("orders", receiver.url) })).status).toBe(201);
  const orders = new Ledger("orders", () => [other]);
  let [from, to]: readonly [keyof typeof databases, keyof typeof databases] = ["eu1", "eu2"];
  for (const [step, hold] of Object.entries(steps)) {
    const mover: Server = await startServer(["--databases", option, "--log-level", "silent"]);
    const before = orders.count;
    while (orders.count < before + 5) await Bun.sleep(5);
    const { sessions, wait } = await hold({ from: databases[from], to: databases[to], list: databases.eu1 });
    const moving = ask(mover, "POST", "/orders/move", { to }).then(
      ({ status }) => status,
      () => "killed",
    );
    await wait();
    await mover.kill();
    expect({ step, moving: await moving }).toEqual({ step, moving: "killed" });
    for (const client of sessions) await client.end();
    while ((await placeOf(other, "orders")) !== to) await Bun.sleep(20);
    [from, to] = [to, from];
  }
  await orders.stop();
  expect(await orders.compare(`${other.base_url}/w/orders`)).toEqual(CLEAN);
  expect(await orders.compareWebhooks(receiver)).toEqual({ twice: [] });
});
