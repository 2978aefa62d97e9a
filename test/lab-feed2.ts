import { createReadStream } from "node:fs";
import { findReport, receiveFile } from "#features/product-feeds";
import { standardCalendar } from "#graph/calendar";
import { openWorld } from "#graph/open-world";
import { importWorld } from "#graph/world-file";
import { ReaderRegistry } from "#kernel/readers";
import { buildRegistry } from "#main";
import { collectGarbage, randomSecret, SeededIds, TimeOrderedIds } from "#system";
import { GuardedClient } from "#webhooks/guarded-client";

const registry = buildRegistry();
const readers = new ReaderRegistry();
for (const r of registry.rooms) r.registerReaders?.(readers);
const world = await openWorld({
  name: "lab",
  data: process.argv[2] ?? ":memory:",
  registry,
  readers,
  profile: "strict",
  seed: undefined,
  calendar: standardCalendar,
  limits: { labels_per_page_max: 5000 } as any,
  rateLimits: { app_calls_per_hour: 0, page_calls_per_hour: 0 },
  randomSecret,
  collectGarbage,
  outbound: new GuardedClient({ rules: { isSandbox: true, allowed: [] } }),
  masterKey: new Uint8Array(32).fill(7),
  realNowMs: () => Date.now(),
  timeOrderedIds: (p: any) => new TimeOrderedIds(p),
  seededIds: (n: any) => new SeededIds(n),
} as any);
await importWorld(
  world,
  registry,
  JSON.stringify({ pages: [{ id: "2001" }], catalogs: [{ id: "8001", page: "2001" }], product_feeds: [{ id: "8101", catalog: "8001" }] }),
  { isMerge: false },
);
let c = process.cpuUsage();
let t = performance.now();
const lap = (w: string) => {
  const d = process.cpuUsage(c);
  console.log(
    w,
    "cpu",
    ((d.user + d.system) / 1e6).toFixed(2),
    "sys",
    (d.system / 1e6).toFixed(2),
    "wall",
    ((performance.now() - t) / 1000).toFixed(2),
  );
  c = process.cpuUsage();
  t = performance.now();
};
await receiveFile(world, "8101", createReadStream("/tmp/feedlab/m.csv", { highWaterMark: 262144 }), {});
lap("received");
await world.work.runDue();
lap("ingested");
console.log((await findReport(world.database.reader, "8101", 1))?.items);
process.exit(0);
