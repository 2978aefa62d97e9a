/**
 * Checks that twice the input costs at most 2.5 times the steps. The inputs are every operation, upload, control route and message of an encoder,
 * hostile and honest, each sent once and twice. Steps are counted, not timed (`counted-steps.ts`); `stalls.proof.ts` measures the times.
 */
import { expect, test } from "bun:test";
import { forTests } from "#config/for-tests";
import { readConfig } from "#config/read-config";
import { settings } from "#features";
import { readFeed } from "#features/product-feeds/api";
import { afterThisTest } from "#harness/cleanup";
import { countStatements, StepCounter } from "#harness/counted-steps";
import { type DatabaseKind, onEachDatabase } from "#harness/databases";
import { publishing } from "#harness/live/rtmp";
import { sharedPostgres } from "#harness/postgres-cluster";
import { startReceiver } from "#harness/receiver";
import { worldFile } from "#harness/server";
import { RtmpProblem } from "#ingest/rtmp/message";
import { PublisherSession } from "#ingest/rtmp/publisher-session";
import { startPlaza } from "#main";
import { Log } from "#telemetry/log";
import { controlLoads } from "./control-loads.ts";
import { afterKey, beforeKey } from "./encoder-loads.ts";
import { feedFiles } from "./feed-files.ts";
import { graphLoads } from "./graph-loads.ts";
import type { Load, Sizes } from "./load.ts";
import { deletionsLast, smallStallsWorld } from "./stalls-world.ts";

const HALF: Sizes = { bodyBytes: 30_000, queryBytes: 3_000 };
const WHOLE: Sizes = { bodyBytes: 2 * HALF.bodyBytes, queryBytes: 2 * HALF.queryBytes };
/** The length of a message of an encoder. */
const MESSAGE_BYTES_OF_TEST = 200_000;
const RATIO_MAX = 2.5;
/**
 * The steps of webhooks and other background work, which run meanwhile. If the code searched a list of 500 items for each of its items, the doubled
 * input would take six times as many steps.
 */
const BESIDE = 20_000;

interface Work {
  readonly work: string;
  readonly shape: string;
  /** The steps of the first and of the second sending. */
  readonly half: readonly number[];
  readonly whole: readonly number[];
}

const expectLinear = (all: readonly Work[]): void => {
  // The first sending of the whole load follows sendings of the half load, so the test compares the steps to either of the half load's sendings.
  const isOver = ({ half, whole }: Work): boolean => whole.some((steps) => steps > RATIO_MAX * Math.max(...half) + BESIDE);
  expect(all.filter(isOver)).toEqual([]);
  // Work that is not counted would pass the test as well, so the test checks that each type of work has a count.
  const isCounted = ({ whole }: Work): boolean => whole.every((steps) => steps > 0);
  expect([...new Set(all.map(({ work }) => work))].filter((work) => !all.some((one) => one.work === work && isCounted(one)))).toEqual([]);
};

function countingSteps(): StepCounter {
  const counter = new StepCounter();
  counter.start();
  afterThisTest(() => counter.stop());
  return counter;
}

/**
 * The texts below cost only the work of reading them, which is the same on both databases. The test sends these texts to SQLite only, because a
 * thousand requests take a minute.
 */
const READ_WITHOUT_DATABASE = /^(?:JSON|form|parts|query):/;

async function twice(counter: StepCounter, send: () => Promise<unknown>): Promise<number[]> {
  const steps: number[] = [];
  for (let sending = 0; sending < 2; sending++) {
    counter.take();
    await send();
    steps.push(counter.take());
  }
  return steps;
}

async function serve(database: DatabaseKind, counter: StepCounter) {
  const data = database === "sqlite" ? ":memory:" : await (await sharedPostgres()).newDatabase();
  const options = { ...forTests, log_level: "silent", data, world: worldFile(smallStallsWorld) };
  const plaza = await startPlaza(readConfig(options, {}, undefined, settings), new Log({ level: "silent", isPretty: false }));
  afterThisTest(() => plaza.stop());
  countStatements(plaza.worlds.default.database, (steps) => counter.add(steps));
  return { ...plaza.ready, control_key: plaza.ready.control_key ?? "" };
}

test("a search that begins anew for each item is noticed", () => {
  const counter = countingSteps();
  const stepsOf = (run: () => void): number => {
    counter.take();
    run();
    return counter.take();
  };
  const list = (count: number): number[] => Array.from({ length: count }, (_, at) => at);
  const quadratic: Readonly<Record<string, (count: number) => void>> = {
    "in a list": (count) => list(count).filter((one, at, all) => all.includes(one) && at >= 0),
    "of the first of a list": (count) => {
      for (const rest = list(50 * count); rest.length > 0; ) rest.shift();
    },
    "in a text": (count) => {
      const text = "a".repeat(50 * count);
      for (let at = 0; at < text.length; at++) text.indexOf("b");
    },
    "of bytes": (count) => {
      let all = Buffer.alloc(0);
      for (let at = 0; at < 10 * count; at++) all = Buffer.concat([all, Buffer.alloc(10)]);
    },
  };
  for (const [name, run] of Object.entries(quadratic)) {
    const [half, whole] = [stepsOf(() => run(500)), stepsOf(() => run(1_000))];
    expect({ name, isOver: whole > RATIO_MAX * half + BESIDE }).toEqual({ name, isOver: true });
  }
  const linear = (count: number): void => void new Map(list(count).map((at) => [at, String(at).slice(1)]));
  expect(stepsOf(() => linear(100_000))).toBeLessThan(RATIO_MAX * stepsOf(() => linear(50_000)));
});

onEachDatabase("twice the input costs at most 2.5 times the steps", (database) => {
  test("of each operation and control route", async () => {
    const counter = countingSteps();
    const server = await serve(database, counter);
    const { url } = startReceiver();
    const loads = (sizes: Sizes): Load[] => deletionsLast([...graphLoads(url, sizes), ...controlLoads(sizes, sizes.bodyBytes / 100)]);
    const [halves, wholes] = [loads(HALF), loads(WHOLE)];
    const found: Work[] = [];
    for (const [at, { work, shape, send }] of halves.entries()) {
      const whole = wholes[at] as Load;
      if (database === "postgres" && READ_WITHOUT_DATABASE.test(shape)) continue;
      expect(whole).toMatchObject({ work, shape });
      found.push({ work, shape, half: await twice(counter, () => send(server)), whole: await twice(counter, () => whole.send(server)) });
    }
    expectLinear(found);
  }, 600_000);
});

test("twice the input costs at most 2.5 times the steps of each upload", async () => {
  const counter = countingSteps();
  async function* partsOf(file: string | Uint8Array): AsyncGenerator<Uint8Array> {
    yield typeof file === "string" ? Buffer.from(file) : file;
  }
  const read = (file: string | Uint8Array) => async () => {
    for await (const _ of readFeed(partsOf(file), undefined));
  };
  const [halves, wholes] = [feedFiles(HALF.bodyBytes), feedFiles(WHOLE.bodyBytes)];
  const found: Work[] = [];
  for (const [shape, make] of Object.entries(halves)) {
    const whole = wholes[shape]?.() ?? "";
    found.push({ work: "upload", shape, half: await twice(counter, read(make())), whole: await twice(counter, read(whole)) });
  }
  expectLinear(found);
});

test("twice the input costs at most 2.5 times the steps of each message of an encoder", async () => {
  const counter = countingSteps();
  const receive = (bytes: Uint8Array) => async () => {
    const session: PublisherSession = new PublisherSession({
      ...{ send: () => {}, end: () => {}, media: () => {}, metadata: () => {}, unpublished: () => {}, finished: () => {} },
      publishAsked: () => session.admit(),
      randomBytes: (count) => new Uint8Array(count),
    });
    try {
      for (let at = 0; at < bytes.length; at += 4_096) session.received(bytes.subarray(at, at + 4_096));
    } catch (error) {
      if (!(error instanceof RtmpProblem)) throw error;
    }
  };
  const published = (make: () => Uint8Array) => Buffer.concat([...publishing("key"), make()]);
  const found: Work[] = [];
  for (const [shapes, bytesOf] of [
    [beforeKey, (make: () => Uint8Array) => make()],
    [afterKey, published],
  ] as const) {
    const wholes = shapes(2 * MESSAGE_BYTES_OF_TEST);
    for (const [shape, make] of Object.entries(shapes(MESSAGE_BYTES_OF_TEST))) {
      const whole = wholes[shape] as () => Uint8Array;
      found.push({
        work: "encoder",
        shape,
        half: await twice(counter, receive(bytesOf(make))),
        whole: await twice(counter, receive(bytesOf(whole))),
      });
    }
  }
  expectLinear(found);
});
