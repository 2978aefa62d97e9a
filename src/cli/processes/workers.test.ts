/** Tests the first of several processes, which starts, replaces and ends the workers and shows their requests and metrics. */
import { beforeEach, describe, expect, spyOn, test } from "bun:test";
import cluster from "node:cluster";
import { EventEmitter } from "node:events";
import { type Config, ConfigProblem } from "#config/config";
import { forTests } from "#config/for-tests";
import { readConfig } from "#config/read-config";
import { settings } from "#features";
import type { RequestEntry } from "#graph/worlds/request-log";
import { afterThisTest } from "#harness/cleanup";
import { nextTurn } from "#kernel/turns";
import { processFacts } from "#system";
import type { Log } from "#telemetry/log";
import { type MetricsReport, metricsReport } from "#telemetry/metrics-report";
import { RequestMetrics } from "#telemetry/request-metrics";
import { DeliveryMetrics } from "#webhooks/history/metrics";
import type { AttemptSeen } from "#webhooks/observer";
import type { ServedMetrics } from "../worker.ts";
import { startWithWorkers } from "../workers.ts";

/**
 * A stand-in for a worker, as the first process sees a worker. This worker records the messages that it gets, and does
 * the steps that the test asks for.
 */
class LoneWorker extends EventEmitter {
  readonly sent: { kind: string; config?: Config; secretKey?: string }[] = [];
  readonly kills: string[] = [];
  readonly id: number;
  readonly process: { pid: number; kill: (signal: string) => void };
  hasChannel = true;

  constructor(pid: number) {
    super();
    this.id = pid - 99;
    this.process = { pid, kill: (signal) => void this.kills.push(signal) };
  }

  isConnected = (): boolean => this.hasChannel;
  send = (message: LoneWorker["sent"][number]): void => void this.sent.push(message);
  ready = (): boolean => this.emit("message", { kind: "ready" });
  exit = (code: number | null, signal: string | null = null): boolean => this.emit("exit", code, signal);
  report = (metrics: MetricsReport): boolean => this.emit("message", { kind: "metrics", metrics });
  serve = (metrics: ServedMetrics, ...worlds: object[]): boolean => this.emit("message", { kind: "served", metrics, worlds });
}

/** The timers that the test moves: the pause between attempts, and the time of ending processes. All other timers run by the real clock. */
const PAUSES = [1_000, 11_000];

let workers: LoneWorker[] = [];
/** The pauses that have not ended yet; the test ends these pauses. */
let pauses: { ms: number; end: () => void }[] = [];
let passedMs = 0;

beforeEach(() => {
  [workers, pauses, passedMs] = [[], [], 0];
  const setTimer = globalThis.setTimeout;
  const spies = [
    spyOn(cluster, "setupPrimary").mockImplementation(() => {}),
    spyOn(cluster, "fork").mockImplementation(() => {
      const worker = new LoneWorker(100 + workers.length);
      workers.push(worker);
      return worker as never;
    }),
    spyOn(performance, "now").mockImplementation(() => passedMs),
    spyOn(globalThis, "setTimeout").mockImplementation(((then: () => void, ms = 0, ...more: unknown[]) => {
      if (PAUSES.includes(ms)) pauses.push({ ms, end: then });
      return PAUSES.includes(ms) ? 0 : setTimer(then, ms, ...more);
    }) as unknown as typeof setTimeout),
  ];
  afterThisTest(() => {
    for (const spy of spies) spy.mockRestore();
  });
});

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await Bun.sleep(1);
}

function begin(count: number, more: Partial<Config> = {}) {
  const lines: unknown[] = [];
  const line = (fields: object, text: string): void => void lines.push({ ...fields, text });
  const log = { error: line, warn: line, info: () => {}, debug: () => {}, line: () => {}, shows: () => false } as unknown as Log;
  const config = { ...readConfig({ ...forTests }, {}, undefined, settings), workers: count, ...more };
  return { lines, starting: startWithWorkers(config, log) };
}

/** Starts workers that are all ready. At the end of the test, each worker exits. */
async function running(count: number) {
  const { lines, starting } = begin(count);
  await until(() => workers.length === count);
  for (const worker of workers) worker.ready();
  const plaza = await starting;
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopped ??= plaza.stop();
    return stopped;
  };
  afterThisTest(async () => {
    const end = stop();
    for (const worker of workers) worker.exit(0);
    await end;
  });
  const { control_url, control_key } = plaza.ready;
  const control = async (path: string): Promise<Response> => fetch(`${control_url}${path}`, { headers: { authorization: `Bearer ${control_key}` } });
  return { plaza, lines, stop, control };
}

const kindsTo = ({ sent }: LoneWorker): string[] => sent.map(({ kind }) => kind);

describe("the start", () => {
  test("waits for every worker, each of which gets port and keys over its own channel", async () => {
    const secret_key = new Uint8Array(32).fill(255);
    const { starting } = begin(2, { secret_key, rtmp_port: "off" });
    let isStarted = false;
    void starting.then(() => {
      isStarted = true;
    });
    await until(() => workers.length === 2);
    workers[0]?.ready();
    await Bun.sleep(1);
    expect(isStarted).toBe(false);
    workers[1]?.ready();
    const plaza = await starting;
    expect(workers).toHaveLength(2);
    for (const { sent } of workers) {
      expect(sent).toMatchObject([{ kind: "config", secretKey: Buffer.from(secret_key).toString("base64") }]);
      expect(String(sent[0]?.config?.port)).toBe(new URL(plaza.ready.base_url).port);
    }
    const stopped = plaza.stop();
    for (const worker of workers) worker.exit(0);
    await stopped;
  });

  test.each<[ending: [code: number | null, signal: string | null], text: string]>([
    [[3, null], "exit code 3"],
    [[null, "SIGKILL"], "SIGKILL"],
  ])("fails if a worker ends before it serves, with %p, and leaves no workers or ports", async (ending, text) => {
    const { starting } = begin(2, { control_port: 0 });
    const failed = starting.catch((error: Error) => error.message);
    await until(() => workers.length === 2);
    const port = workers[0]?.sent[0]?.config?.port;
    workers[0]?.exit(...ending);
    await until(() => (workers[1]?.sent.length ?? 0) > 1);
    expect(kindsTo(workers[1] as LoneWorker)).toEqual(["config", "stop"]);
    expect(kindsTo(workers[0] as LoneWorker)).toEqual(["config"]);
    workers[1]?.exit(0);
    expect(await failed).toBe(`a worker ended before it was ready, with ${text}`);
    // The port is free from now on.
    await Bun.serve({ port: Number(port), hostname: "127.0.0.1", fetch: () => new Response() }).stop(true);
  });

  test("fails if a worker cannot be started, or another program has the port", async () => {
    const { starting } = begin(1);
    const failed = starting.catch((error: Error) => error.message);
    await until(() => workers.length === 1);
    workers[0]?.emit("error", new Error("spawn failed"));
    workers[0]?.exit(1);
    expect(await failed).toBe("spawn failed");
    const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
    afterThisTest(() => other.stop(true));
    const refused = await begin(1, { port: Number(other.port) }).starting.catch((error: Error) => error);
    expect(refused).toBeInstanceOf(ConfigProblem);
    expect(workers).toHaveLength(1);
  });
});

describe("a worker that ends", () => {
  test("is replaced at once if it has served for five seconds, otherwise after a second", async () => {
    const { lines } = await running(1);
    const [first] = workers as [LoneWorker];
    passedMs += 5_000;
    first.exit(null, "SIGSEGV");
    expect([workers.length, pauses]).toEqual([2, []]);
    expect(lines).toEqual([{ worker: 100, ending: "SIGSEGV", text: "a worker ended and is restarted" }]);
    workers[1]?.ready();
    await nextTurn();
    workers[1]?.exit(7);
    expect(lines.at(-1)).toEqual({ worker: 101, ending: "exit code 7", text: "a worker ended and is restarted" });
    expect([workers.length, pauses.map(({ ms }) => ms)]).toEqual([2, [1_000]]);
    pauses[0]?.end();
    await until(() => workers.length === 3);
    workers[2]?.ready();
    expect(kindsTo(workers[2] as LoneWorker)).toEqual(["config"]);
  });

  test("is retried each second while no worker can be started, and starts once", async () => {
    const { lines } = await running(1);
    passedMs += 60_000;
    workers[0]?.exit(1);
    for (const attempt of [1, 2]) {
      expect(workers).toHaveLength(1 + attempt);
      workers.at(-1)?.exit(1);
      await until(() => pauses.length === attempt);
      expect(lines.at(-1)).toMatchObject({ text: "a worker could not be started" });
      pauses.at(-1)?.end();
      await until(() => workers.length === 2 + attempt);
    }
    workers.at(-1)?.ready();
    await nextTurn();
    expect([workers.length, pauses.length]).toEqual([4, 2]);
  });

  test("is not replaced after the server began to end, even if its time comes only then", async () => {
    const { lines, stop } = await running(2);
    const [first, second] = workers as [LoneWorker, LoneWorker];
    first.exit(1);
    expect(pauses).toHaveLength(1);
    const stopped = stop();
    second.exit(1);
    pauses[0]?.end();
    await stopped;
    await nextTurn();
    expect(workers).toHaveLength(2);
    expect(lines).toHaveLength(1);
  });
});

describe("the end", () => {
  test("is requested from each reachable worker, and waits until all have ended", async () => {
    const { stop } = await running(2);
    const [first, second] = workers as [LoneWorker, LoneWorker];
    second.hasChannel = false;
    let hasStopped = false;
    const stopped = stop().then(() => {
      hasStopped = true;
    });
    expect([kindsTo(first), kindsTo(second)]).toEqual([["config", "stop"], ["config"]]);
    first.exit(0);
    await Bun.sleep(5);
    expect(hasStopped).toBe(false);
    second.exit(0);
    await stopped;
    expect([first.kills, second.kills]).toEqual([[], []]);
  });

  test("kills workers that have not ended a second after the limit for running requests", async () => {
    const { stop } = await running(2);
    const [first, second] = workers as [LoneWorker, LoneWorker];
    const stopped = stop();
    first.exit(0);
    expect(pauses.map(({ ms }) => ms)).toEqual([11_000]);
    pauses[0]?.end();
    await stopped;
    expect([first.kills, second.kills]).toEqual([[], ["SIGKILL"]]);
  });
});

describe("what workers have served", () => {
  const reportWith = (requests: number, more: Partial<MetricsReport> = {}): MetricsReport => {
    const metrics = new RequestMetrics();
    for (let count = 0; count < requests; count++) metrics.record("listLabels", 200, 1);
    return { ...metricsReport(processFacts("worker"), metrics, { lagP99Ms: 3, holds: [] }, []), ...more };
  };
  const servedWith = (requests: number, more: Partial<MetricsReport> = {}): ServedMetrics => {
    const { webhooks: _, processes: __, ...served } = reportWith(requests, more);
    return served;
  };
  const entry = (trace_id: string): RequestEntry => ({
    ...{ trace_id, operation: "listLabels", method: "GET", surface: "graph", path: "/v26.0/2001/custom_labels", query: "", status: 200 },
    ...{ time: 1_795_000_000_000, duration_ms: 1, app: undefined, request_body: "", response_body: "{}" },
  });

  test("sums the last reports of all workers, and keeps those of ended ones; their running requests have ended, too", async () => {
    const { control } = await running(2);
    const [first, second] = workers as [LoneWorker, LoneWorker];
    const counted = async () => {
      const text = await (await control("/metrics")).text();
      const numberIn = (line: RegExp): number => Number(line.exec(text)?.[1]);
      return [
        numberIn(/^plaza_calls_total\{operation="listLabels",status="200"\} (\d+)$/m),
        numberIn(/^plaza_calls_in_flight (\d+)$/m),
        numberIn(/^plaza_connections (\d+)$/m),
      ];
    };
    const busy = { inFlight: 2, waiting: 1, connections: { open: 3, evicted: 0 } };
    first.serve(servedWith(1));
    first.serve(servedWith(4, busy));
    second.serve(servedWith(5, busy));
    expect(await counted()).toEqual([9, 4, 6]);
    first.exit(1);
    // A message of the ended worker may come after its end. A message that comes after the worker's end is ignored, as if
    // the worker had never reported.
    first.serve(servedWith(100));
    expect(await counted()).toEqual([9, 2, 3]);
    pauses[0]?.end();
    await until(() => workers.length === 3);
    workers[2]?.ready();
    workers[2]?.exit(1);
    expect(await counted()).toEqual([9, 2, 3]);
  });

  test("webhooks and processes are asked for; a worker that is stuck is asked once and keeps nobody waiting, and one that ended counts on", async () => {
    const { control } = await running(2);
    const [first, second] = workers as [LoneWorker, LoneWorker];
    const sent = (delivered: number) => {
      const metrics = new DeliveryMetrics();
      const seen = { row: { app: "7", callback: "5", object: "page", field: "feed" }, updates: 1, outcome: { kind: "delivered", attempt: {} } };
      for (let count = 0; count < delivered; count++) metrics.record(seen as unknown as AttemptSeen);
      return {
        webhooks: metricsReport(processFacts("worker"), new RequestMetrics(), { lagP99Ms: 0, holds: [] }, [{ name: "w", webhooks: { metrics } }])
          .webhooks,
      };
    };
    const askedOf = (worker: LoneWorker) => worker.sent.filter(({ kind }) => kind === "report").length;
    /** Reads the metrics page. The first worker responds with the given metrics, and the second worker never responds. */
    const shown = async (answer: MetricsReport) => {
      const page = control("/metrics");
      const before = askedOf(first);
      await until(() => askedOf(first) > before);
      first.report(answer);
      const text = await (await page).text();
      return {
        delivered: /^plaza_webhook_attempts_total\{world="w",.*outcome="delivered"\} (\d+)$/m.exec(text)?.[1],
        processes: [...text.matchAll(/^process_start_time_seconds\{process="(.*?)"\}/gm)].map(([, name]) => name),
      };
    };
    expect(await shown(reportWith(1, sent(3)))).toEqual({ delivered: "3", processes: ["main", "worker 1"] });
    expect(await shown(reportWith(1, sent(5)))).toEqual({ delivered: "5", processes: ["main", "worker 1"] });
    expect(askedOf(second)).toBe(1);
    second.report(reportWith(0, sent(2)));
    expect(await shown(reportWith(1, sent(6)))).toEqual({ delivered: "8", processes: ["main", "worker 1", "worker 2"] });
    second.exit(1);
    expect(await shown(reportWith(1, sent(7)))).toEqual({ delivered: "9", processes: ["main", "worker 1"] });
  });

  test("is shown in its world; a deleted world keeps nothing, and a problem is logged", async () => {
    const { plaza, lines, control } = await running(1);
    const [worker] = workers as [LoneWorker];
    const seenIn = (world: string, ...ids: string[]) => ({ world, requests: ids.map(entry), appEvents: [] });
    worker.serve(servedWith(3), seenIn("gone", "X1"), seenIn("default", "A1", "A2"));
    const shown = async (): Promise<string[]> => {
      const { data } = (await (await control("/v1/worlds/default/requests")).json()) as { data: { trace_id: string }[] };
      return data.map(({ trace_id }) => trace_id);
    };
    while ((await shown()).length < 2);
    expect(await shown()).toEqual(["A2", "A1"]);
    expect(lines).toEqual([]);
    const spy = spyOn(plaza.worlds, "hold").mockImplementation(() => Promise.reject(new Error("no database")));
    worker.serve(servedWith(4), seenIn("default", "A3"));
    await until(() => lines.length > 0);
    spy.mockRestore();
    expect(lines).toMatchObject([{ world: "default", text: "requests of a worker cannot be shown" }]);
    expect(await shown()).toHaveLength(2);
  });
});
