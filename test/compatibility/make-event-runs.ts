/**
 * Makes the fixture of the runs of the index of app events, which SQLite writes from 65,536 entries on:
 *
 *     node_modules/bun/bin/bun.exe test/compatibility/make-event-runs.ts
 *
 * writes `event-runs/`, which is never made anew. Nearly all of the entries are of one device, and of requests that retention deleted
 * before the run was written, so that the data is small.
 */
import { Database } from "bun:sqlite";
import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { endAll, newFolder, type RunningPlaza, startPlaza } from "../cli/plaza-process.ts";
import { BULK, EVENTS, NOW, RUNS_FOLDER, report, TOUCH, WORLD } from "./event-runs.ts";

const DAY_SECONDS = 86_400;
/** At five entries each, a few fewer than the 65,536 entries from which on a run is written. */
const BULK_REQUESTS = 13_104;
const AT_ONCE = 64;

async function fill(plaza: RunningPlaza): Promise<void> {
  const setClock = (now: number) => plaza.control("PUT", "clock", { now, frozen: true });
  await setClock(NOW - 100 * DAY_SECONDS);
  // Alone, because the entries of the first transaction may be counted twice.
  await report(plaza, BULK);
  for (let sent = 1; sent < BULK_REQUESTS; sent += AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, BULK_REQUESTS - sent) }, () => report(plaza, BULK)));
  await setClock(NOW);
  // Retention deletes what is older than 90 days.
  const isEmpty = async () => ((await plaza.control("GET", "app-events/1001?limit=1")).body.data as unknown[]).length === 0;
  while (!(await isEmpty())) await Bun.sleep(50);
  await plaza.control("POST", "attribution/clicks", TOUCH);
  for (const one of EVENTS) await report(plaza, one);
}

const file = join(RUNS_FOLDER, "default.sqlite.gz");
if (existsSync(file)) throw new Error(`${file} is there already`);
try {
  const data = newFolder();
  const world = join(newFolder(), "world.json");
  writeFileSync(world, JSON.stringify(WORLD));
  const plaza = await startPlaza(["--data", data, "--world", world, "--seed", "7"]);
  await fill(plaza);
  const { code, stderr } = await plaza.end();
  if (code !== 0) throw new Error(`it ended with ${code}: ${stderr}`);
  const database = new Database(join(data, "default.sqlite"));
  const isInRun = "SELECT COUNT(*) AS events FROM app_events e WHERE e.call <= (SELECT MAX(r.last_call) FROM app_event_runs r)";
  const { events } = database.query<{ events: number }, []>(isInRun).get() ?? {};
  database.run("VACUUM");
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  console.log(`the run holds ${events} events of the log`);
  writeFileSync(file, gzipSync(readFileSync(join(data, "default.sqlite")), { level: 9 }));
  copyFileSync(join(data, "secret.key"), join(RUNS_FOLDER, "secret.key"));
} finally {
  await endAll();
}
