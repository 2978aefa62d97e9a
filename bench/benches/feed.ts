/** Measures how long a product feed of a million rows takes, from the first byte sent to the moment in which the feed shows its items. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cpuMicroseconds, peakMegabytes } from "../harness/machine.ts";
import type { Bench } from "../harness/report.ts";
import { type Server, startFloor, startPlaza } from "../harness/server.ts";
import { spreadOf } from "../harness/statistics.ts";

const ROWS = 1_000_000;
const FEED = "8101";
/** The time limit of an upload. A slow machine uploads a million rows in a quarter of the time limit. */
const WITHIN_MS = 300_000;
const LOOK_MS = 10_000;

const world = {
  apps: [{ id: "1001", name: "Bench", secret: "bench secret" }],
  pages: [{ id: "2001", name: "Bench page" }],
  catalogs: [{ id: "8001", page: "2001", name: "Books" }],
  product_feeds: [{ id: FEED, catalog: "8001", name: "books" }],
};

/** Writes a feed file like that of a shop: about 200 bytes in each row, one value in quotes, and the ids in order. */
async function writeFeed(file: string): Promise<void> {
  const writer = Bun.file(file).writer();
  writer.write("retailer_id,name,description,image_url,url,price,currency,brand,publication_category,author,genre,in_language,availability\n");
  for (let i = 0; i < ROWS; i++) {
    writer.write(
      `sku-${String(i).padStart(8, "0")},The Book of ${i},"A story, told ""well"", in ${i % 97} parts",https://cdn.example.com/covers/${i}.jpg,` +
        `https://shop.example.com/books/${i}?ref=feed,${(i % 9_000) / 100},EUR,Acme Press,ebook,Author ${i % 5_000},novel,en,in stock\n`,
    );
    if (i % 10_000 === 0) await writer.flush();
  }
  await writer.end();
}

interface Round {
  readonly rows_per_second: number;
  readonly cpu_us: number;
  readonly peak_mb: number;
}

async function ingestByPlaza(file: string): Promise<Round> {
  const plaza = await startPlaza({ world });
  try {
    const { control_url, control_key } = plaza.ready as { control_url: string; control_key: string };
    const headers = { authorization: `Bearer ${control_key}` };
    const uploads = `${control_url}/v1/worlds/default/feeds/${FEED}/uploads`;
    return await measured(plaza, async () => {
      const sent = await fetch(uploads, { method: "POST", headers, body: Bun.file(file) });
      const { n } = (await sent.json()) as { n: number };
      const until = performance.now() + WITHIN_MS;
      for (;;) {
        const response = await fetch(`${uploads}/${n}?within_ms=${LOOK_MS}`, { headers });
        const { status, items, problem } = (await response.json()) as { status: string; items: number; problem?: string };
        if (status === "done") return items;
        if (status === "failed" || performance.now() > until) throw new Error(`the upload is ${status}: ${problem}`);
      }
    });
  } finally {
    await plaza.stop();
  }
}

async function ingestByFloor(file: string): Promise<Round> {
  const floor = await startFloor("feed", { given: { file } });
  try {
    return await measured(floor, async () => ((await (await fetch(String(floor.ready.base_url))).json()) as { rows: number }).rows);
  } finally {
    await floor.stop();
  }
}

async function measured({ name, pid }: Server, ingest: () => Promise<number>): Promise<Round> {
  const cpu = cpuMicroseconds(pid);
  const startMs = performance.now();
  const rows = await ingest();
  const seconds = (performance.now() - startMs) / 1_000;
  if (rows !== ROWS) throw new Error(`${name} has ${rows} of ${ROWS} rows`);
  return { rows_per_second: rows / seconds, cpu_us: (cpuMicroseconds(pid) - cpu) / rows, peak_mb: peakMegabytes(pid) };
}

export const bench: Bench = {
  summary: `The time from sending a feed file of ${ROWS.toLocaleString("en")} rows (CSV, about 200 bytes each) to the control API until the feed shows its items; Plaza stores the file and checks each row. The reference program parses the same file with the same package and inserts the rows.`,
  async run({ rounds }) {
    const folder = mkdtempSync(join(process.env.BENCH_TMP ?? tmpdir(), "plaza-bench-feed-"));
    const file = join(folder, "feed.csv");
    try {
      await writeFeed(file);
      const pairs: { plaza: Round; floor: Round }[] = [];
      for (let round = 0; round < rounds; round++) {
        // Plaza and the floor take turns to be measured first, so that neither always has the warmer machine.
        if (round % 2 === 0) pairs.push({ plaza: await ingestByPlaza(file), floor: await ingestByFloor(file) });
        else {
          const floor = await ingestByFloor(file);
          pairs.push({ plaza: await ingestByPlaza(file), floor });
        }
      }
      const over = (metric: (pair: (typeof pairs)[number]) => number) => spreadOf(pairs.map(metric));
      return {
        metrics: [
          {
            name: "rows/s (Plaza divided by floor)",
            ...over(({ plaza, floor }) => plaza.rows_per_second / floor.rows_per_second),
            goal: { at_least: 0.5 },
          },
          { name: "CPU time per row (floor divided by Plaza)", ...over(({ plaza, floor }) => floor.cpu_us / plaza.cpu_us) },
          { name: "resident memory at its peak", unit: "MB", ...over(({ plaza }) => plaza.peak_mb), goal: { at_most: 150 } },
        ],
        absolute: [
          { name: "Plaza: rows/s", unit: "/s", ...over(({ plaza }) => plaza.rows_per_second) },
          { name: "Plaza: CPU time per row", unit: "µs", ...over(({ plaza }) => plaza.cpu_us) },
          { name: "floor: rows/s", unit: "/s", ...over(({ floor }) => floor.rows_per_second) },
          { name: "floor: CPU time per row", unit: "µs", ...over(({ floor }) => floor.cpu_us) },
          { name: "floor: resident memory at its peak", unit: "MB", ...over(({ floor }) => floor.peak_mb) },
        ],
      };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
