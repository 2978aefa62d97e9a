import { openConsoleTab } from "../harness/browser.ts";
import { get, PAGE } from "../harness/data.ts";
import { startFilledPlaza } from "../harness/fill.ts";
import { cpuMicroseconds } from "../harness/machine.ts";
import { atRate } from "../harness/rate.ts";
import type { Bench } from "../harness/report.ts";
import type { Server } from "../harness/server.ts";
import { spreadOf } from "../harness/statistics.ts";

const ROWS = 100_000;
const REQUESTS_PER_SECOND = 1_000;
/** The number of pixels to scroll in each frame: in ten seconds of sixty frames, the page scrolls through a tenth of the rows. */
const SCROLL_PIXELS = 470;

const SCRIPT_BYTES = `performance.getEntriesByType("resource")
  .filter(({ initiatorType, name }) => initiatorType === "script" || name.endsWith(".js"))
  .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`;
const GRID = "document.querySelector('[role=grid]')";
/** A script that scrolls to the end repeatedly, until the page has loaded the whole list. */
const ALL_ROWS = `new Promise((resolve) => {
  const look = () => {
    const grid = ${GRID};
    if (Number(grid?.ariaRowCount) > ${ROWS}) return resolve(grid.ariaRowCount);
    if (grid !== null) grid.scrollTop = grid.scrollHeight;
    setTimeout(look, 5);
  };
  look();
})`;

async function firstView(server: Server) {
  const tab = await openConsoleTab(server, "/requests");
  try {
    const interactiveMs = await tab.evaluate<number>("window.interactive");
    return { interactiveMs, kilobytes: (await tab.evaluate<number>(SCRIPT_BYTES)) / 1_000 };
  } finally {
    await tab.close();
  }
}

/** Sends requests to the server, and returns the CPU time and the memory that the server uses for each request. */
async function load(server: Server, seconds: number) {
  const before = cpuMicroseconds(server.pid);
  const { requests, p99_ms } = await atRate(server, get(`${PAGE}/custom_labels?limit=1`), { requestsPerSecond: REQUESTS_PER_SECOND, seconds });
  return { cpu: (cpuMicroseconds(server.pid) - before) / requests, p99_ms };
}

async function tail(server: Server, seconds: number) {
  const alone = await load(server, seconds);
  const tab = await openConsoleTab(server, "/requests");
  try {
    await tab.evaluate("window.interactive");
    const [drawn, watched] = await Promise.all([tab.draw(seconds), load(server, seconds)]);
    return { ...drawn, alone, watched };
  } finally {
    await tab.close();
  }
}

async function table(server: Server, seconds: number) {
  const tab = await openConsoleTab(server, "/graph?kind=labels");
  try {
    await tab.evaluate(ALL_ROWS);
    await tab.evaluate(`${GRID}.scrollTop = 0`);
    return await tab.draw(seconds, `${GRID}.scrollTop += ${SCROLL_PIXELS}`);
  } finally {
    await tab.close();
  }
}

export const bench: Bench = {
  summary: `The console in a new Chromium without a graphics card: the time until its first view shows its list and can be used; the tail (the list to which each new request is added) at ${REQUESTS_PER_SECOND.toLocaleString("en")} requests per second; a table of ${ROWS.toLocaleString("en")} rows that is scrolled by ${SCROLL_PIXELS} pixels a frame. For comparison, the server also gets the same requests while no console is open.`,
  async run({ rounds, seconds }) {
    const views: Awaited<ReturnType<typeof firstView>>[] = [];
    const tails: Awaited<ReturnType<typeof tail>>[] = [];
    const tables: Awaited<ReturnType<typeof table>>[] = [];
    const server = await startFilledPlaza({ labels: ROWS });
    try {
      for (let i = 0; i < rounds; i++) {
        views.push(await firstView(server));
        tails.push(await tail(server, seconds));
        tables.push(await table(server, seconds));
      }
    } finally {
      await server.stop();
    }
    return {
      metrics: [
        { name: "compressed script of the first view", unit: "kB", ...spreadOf(views.map(({ kilobytes }) => kilobytes)), goal: { at_most: 200 } },
        {
          name: "first view until it can be used",
          unit: "ms",
          ...spreadOf(views.map(({ interactiveMs }) => interactiveMs)),
          goal: { at_most: 1_000 },
        },
        { name: "tail: frames per second", ...spreadOf(tails.map(({ framesPerSecond }) => framesPerSecond)), goal: { at_least: 30 } },
        { name: "tail: longest time between two frames", unit: "ms", ...spreadOf(tails.map(({ stallMs }) => stallMs)), goal: { at_most: 250 } },
        { name: "table: frames per second", ...spreadOf(tables.map(({ framesPerSecond }) => framesPerSecond)), goal: { at_least: 30 } },
        { name: "table: longest time between two frames", unit: "ms", ...spreadOf(tables.map(({ stallMs }) => stallMs)), goal: { at_most: 250 } },
        { name: "CPU time per request (watched divided by alone)", ...spreadOf(tails.map(({ watched, alone }) => watched.cpu / alone.cpu)) },
      ],
      absolute: [
        { name: "alone: server CPU time per request", unit: "µs", ...spreadOf(tails.map(({ alone }) => alone.cpu)) },
        { name: "watched: server CPU time per request", unit: "µs", ...spreadOf(tails.map(({ watched }) => watched.cpu)) },
        { name: "alone: p99", unit: "ms", ...spreadOf(tails.map(({ alone }) => alone.p99_ms)) },
        { name: "watched: p99", unit: "ms", ...spreadOf(tails.map(({ watched }) => watched.p99_ms)) },
      ],
    };
  },
};
