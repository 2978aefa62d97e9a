/**
 * D-420, D-421: uses a thousand worlds in four databases, and moves some of them meanwhile: nothing is lost, stored twice or mixed up between worlds.
 */
import { expect, test } from "bun:test";
import { sharedPostgres } from "#harness/postgres-cluster";
import { tries } from "#harness/proof";
import { startOwnServer } from "../own-server.ts";
import { addressOf, createLabel, listLabels, makeWorld, worldOf } from "../server-of-worlds.ts";

const DATABASES = ["eu1", "eu2", "eu3", "eu4"] as const;
/** The number of requests that are sent at the same time. */
const USERS = 8;
/** The number of worlds that are created at the same time. */
const MAKERS = 2;

/** Runs `use` for all items, `atOnce` of them at the same time. */
async function forEach<T>(items: readonly T[], atOnce: number, use: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  const worker = async (): Promise<void> => {
    for (const item of left) await use(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

test("D-421: worlds in four databases are used while some of them move", async () => {
  const [count, moves] = [tries(8, 1_000), tries(4, 200)];
  const cluster = await sharedPostgres();
  const databases = await Promise.all(DATABASES.map(async (name) => `${name}=${await cluster.newDatabase()}`));
  const options = { databases, open_worlds_max: 64, log_level: "silent" };
  const [one, two] = [await startOwnServer(options), await startOwnServer(options)];
  const names = Array.from({ length: count }, (_, at) => `w${at}`);
  const begunMs = performance.now();
  await forEach(names, MAKERS, async (name) => {
    // A busy PostgreSQL may refuse some creations.
    while ((await makeWorld(one, name)).status === 503);
  });
  const madeMs = performance.now();
  const { worlds } = one.plaza;
  const inEach = Map.groupBy((await worlds.list({ limit: count + 1 })).rows, ({ database }) => worlds.databaseOf(database));
  const sizes = DATABASES.map((name) => inEach.get(name)?.length ?? 0);
  // Worlds that are created at the same time may all count the same earlier worlds when they choose a database.
  expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(MAKERS);
  const created = new Map<string, number>(names.map((name) => [name, 0]));
  const wrong: string[] = [];
  const counts = { requests: 0, refused: 0 };
  let hasEnded = false;
  /** Whether a label was made in the world: by its world file, or by the request of that number. */
  const isOf = (label: string, name: string) =>
    label.includes(" of ") ? label.endsWith(` of ${name}`) : names[(Number(label.split("-")[1]) * 7) % count] === name;
  const using = Array.from({ length: USERS }, async (_, user) => {
    for (let at = user; !hasEnded; at += USERS) {
      const name = names[(at * 7) % count] as string;
      const base = addressOf(at % 2 === 0 ? one : two, name);
      const status = await createLabel(base, `${user}-${at}`);
      if (status === 200) created.set(name, (created.get(name) ?? 0) + 1);
      else if (status !== 503) wrong.push(`${name}: ${status}`);
      const list = await listLabels(base, "&limit=100");
      counts.requests += 2;
      if (status === 503 || list.status === 503) counts.refused++;
      const others = list.names.filter((label) => !isOf(label, name));
      if (others.length > 0) wrong.push(`${name} has ${others.join()}`);
    }
  });
  const tookMs: number[] = [];
  for (let move = 0; move < moves; move++) {
    const name = names[(move * 13) % count] as string;
    const to = DATABASES[(move * 3 + 1) % DATABASES.length] as string;
    const startMs = performance.now();
    const { status } = await (move % 2 === 0 ? one : two).control("POST", `worlds/${name}/move`, { to });
    expect(status).toBe(200);
    tookMs.push(performance.now() - startMs);
  }
  hasEnded = true;
  await Promise.all(using);
  expect(wrong).toEqual([]);
  await forEach(names, USERS, async (name) => {
    let [stored, next]: [string[], string | undefined] = [[], undefined];
    do {
      const page = await listLabels(next ?? addressOf(one, name), next === undefined ? "&limit=100" : "");
      stored = [...stored, ...page.names];
      next = page.next;
    } while (next !== undefined);
    const own = worldOf(name).labels.map((label) => label.name);
    expect({ name, twice: stored.length - new Set(stored).size, lost: (created.get(name) ?? 0) + own.length - stored.length }).toEqual({
      ...{ name, twice: 0, lost: 0 },
    });
  });
  tookMs.sort((first, second) => first - second);
  const at = (part: number) => Math.round(tookMs[Math.floor((tookMs.length - 1) * part)] ?? 0);
  console.log(
    `${count} worlds made in ${Math.round((madeMs - begunMs) / 1000)} s; ${moves} moves, median ${at(0.5)} ms, longest ${at(1)} ms; ` +
      `${counts.requests} requests meanwhile, ${counts.refused} refused with 503`,
  );
});
