/**
 * Measures the memory of an idle world. A server in this process makes and uses worlds, closes them, and collects garbage before each measurement.
 * The argument of this program is `:memory:` or a folder. The program prints the kilobytes of memory for each world; the bench `worlds` runs the
 * program.
 */
import { readFileSync } from "node:fs";
import { forTests } from "#config/for-tests";
import { readConfig } from "#config/read-config";
import { settings } from "#features";
import { startPlaza } from "#main";
import { Log } from "#telemetry/log";
import { get, PAGE, personas, world } from "../harness/data.ts";

/**
 * The number of worlds that are open at once. Few worlds are open at once, because the runtime keeps their memory after they are closed, and the
 * first worlds are not measured.
 */
const OPEN_AT_ONCE = 50;
const FIRST = 500;
const COUNTED = 1_000;
/** The time that the allocator needs to return freed memory to the system. */
const SETTLE_MS = 2_000;

const list = get(`${PAGE}/personas?limit=5`);
const file = world({ personas: [...personas(10)] });
const [data = ":memory:"] = process.argv.slice(2);
const config = readConfig({ ...forTests, data, quiet: true }, {}, undefined, settings);
const { ready, worlds, stop } = await startPlaza(config, new Log({ level: "error", isPretty: false }));

async function use(name: string): Promise<void> {
  const headers = { authorization: `Bearer ${ready.control_key}` };
  const made = await fetch(`${ready.control_url}/v1/worlds`, { method: "POST", headers, body: JSON.stringify({ name, file }) });
  if (!made.ok) throw new Error(`${name}: ${made.status} ${await made.text()}`);
  await made.arrayBuffer();
  const { status } = await fetch(`${ready.base_url}/w/${name}${list.target}`, { headers: list.headers });
  if (status !== 200) throw new Error(`${name}: ${status}`);
}

async function makeIdleWorlds(from: number, count: number): Promise<void> {
  for (let at = from; at < from + count; at += OPEN_AT_ONCE) {
    for (let nth = at; nth < at + OPEN_AT_ONCE; nth++) await use(`w${nth}`);
    // The first call of `closeUnused` treats the worlds as used because of the earlier requests, so `closeUnused` is called a second time.
    while (await worlds.closeUnused()) await Bun.sleep(10);
  }
}

/** Returns the memory of the process itself in kilobytes, without the pages of system files. */
async function ownKilobytes(): Promise<number> {
  for (let times = 0; times < 3; times++) {
    Bun.gc(true);
    await Bun.sleep(SETTLE_MS / 3);
  }
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]);
}

await makeIdleWorlds(0, FIRST);
const before = await ownKilobytes();
await makeIdleWorlds(FIRST, COUNTED);
const after = await ownKilobytes();
console.log((after - before) / COUNTED);
await stop();
process.exit(0);
