/**
 * Checks that uploads of hostile feed files come to an end, that the server survives, that its memory is bounded, and that the server serves another
 * app meanwhile. The generated files are the same ones in each run (`generated-feeds.ts`); `npm run prove` sends 20,000 of them.
 */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { onEachDatabase } from "#harness/databases";
import { sharedPostgres } from "#harness/postgres-cluster";
import { tries } from "#harness/proof";
import { startServer, temporaryFolder, worldFile } from "#harness/server";
import { feedFiles } from "./feed-files.ts";
import { generatedFile } from "./generated-feeds.ts";
import { stallsWorld } from "./stalls-world.ts";
import { uploadFile } from "./upload-loads.ts";

const GENERATED = tries(40, 20_000);
const FEEDS = ["8111", "8112", "8113", "8114", "8115", "8116"];
/**
 * The length of feed files that are as large as the limits of their formats allow. A packed feed file becomes about fifty times as long when it is
 * unpacked.
 */
const FILE_BYTES = 300_000;
const MEMORY_MB_MAX = 512;

const world = {
  ...stallsWorld,
  product_feeds: [...stallsWorld.product_feeds, ...FEEDS.map((id) => ({ id, catalog: "8001", name: id }))],
};

onEachDatabase("hostile feed files", (database) => {
  test("end as uploads, while another app is served", async () => {
    const data = database === "sqlite" ? temporaryFolder() : await (await sharedPostgres()).newDatabase();
    const server = await startServer(["--data", data, "--world", worldFile(world)]);
    const files: (() => string | Uint8Array)[] = [
      ...Object.values(feedFiles(FILE_BYTES)),
      ...Array.from({ length: GENERATED }, (_, n) => () => generatedFile(n)),
    ];
    const count = files.length;
    const ends: string[] = [];
    const upload = async (feed: string): Promise<void> => {
      for (let next = files.shift(); next !== undefined; next = files.shift()) {
        ends.push(await uploadFile(server, next(), feed));
      }
    };
    const refused: string[] = [];
    let asked = 0;
    const askAsOther = async (): Promise<void> => {
      while (ends.length < count) {
        const response = await fetch(`${server.base_url}/v25.0/2002?fields=id,name`, { headers: { authorization: "Bearer other" } });
        const text = await response.text();
        if (response.status !== 200) refused.push(text);
        asked++;
        await Bun.sleep(5);
      }
    };
    await Promise.all([...FEEDS.map(upload), askAsOther()]);
    // A file without any bytes is refused at once.
    const kinds = Object.groupBy(ends, (end) => end);
    console.log(
      `${database}: ${Object.entries(kinds)
        .map(([end, all]) => `${all?.length} ${end}`)
        .join(", ")}`,
    );
    expect(ends.length).toBe(count);
    expect(Object.keys(kinds).filter((end) => !["done", "failed", "400"].includes(end))).toEqual([]);
    expect({ refused, isAsked: asked > 0 }).toEqual({ refused: [], isAsked: true });
    const peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1]) / 1_024;
    expect(peak).toBeLessThan(MEMORY_MB_MAX);
    expect(await server.stop()).toBe(0);
  }, 86_400_000);
});
