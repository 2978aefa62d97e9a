/** Tests a worker: how it starts, reports and ends. */
import { beforeEach, describe, expect, spyOn, test } from "bun:test";
import { EventEmitter } from "node:events";
import type { Config } from "#config/config";
import { forTests } from "#config/for-tests";
import { readConfig } from "#config/read-config";
import { settings } from "#features";
import { afterThisTest } from "#harness/cleanup";
import { written } from "#harness/cli/printed";
import { reservePort } from "#http/listeners/listener";
import { nextTurn } from "#kernel/turns";
import * as main from "#main";
import { Log } from "#telemetry/log";
import { STOP, sealedConfig, type WorkerMessage, work } from "../worker.ts";

/** Emits signals, and messages like those of the first process. */
let channel = new EventEmitter();
let sent: WorkerMessage[] = [];
/** The exit codes of the worker, and the components that had ended before the worker exited. */
let exits: (number | "stopped" | "logged")[] = [];
/** The functions of the report timer, which the test calls itself. */
let reports: (() => void)[] = [];

beforeEach(() => {
  [channel, sent, exits, reports] = [new EventEmitter(), [], [], []];
  const own = { send: process.send, connected: process.connected };
  set({ send: (message: WorkerMessage) => sent.push(message), connected: true });
  const setTimer = globalThis.setTimeout;
  const spies = [
    spyOn(process, "on").mockImplementation(((name: string, listener: () => void) => {
      channel.on(name, listener);
      return process;
    }) as never),
    spyOn(process, "exit").mockImplementation(((code: number) => {
      exits.push(code);
      return code;
    }) as never),
    spyOn(Log.prototype, "flush").mockImplementation(async () => {
      await nextTurn();
      exits.push("logged");
    }),
    spyOn(globalThis, "setTimeout").mockImplementation(((then: () => void, ms = 0, ...more: unknown[]) => {
      if (ms === 100) reports.push(then);
      return ms === 100 ? 0 : setTimer(then, ms, ...more);
    }) as unknown as typeof setTimeout),
  ];
  afterThisTest(() => {
    for (const spy of spies) spy.mockRestore();
    set(own);
  });
});

/** Sets the values by which this process is connected to the first process. */
function set(values: object): void {
  for (const [name, value] of Object.entries(values)) Object.defineProperty(process, name, { value, configurable: true, writable: true });
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await Bun.sleep(1);
}

async function freePort(): Promise<number> {
  const reserved = reservePort("127.0.0.1", 0);
  reserved.release();
  return reserved.port;
}

const configAt = (port: number) => ({ ...readConfig({ ...forTests }, {}, undefined, settings), port });

/** Starts a worker that serves at a port of its own. */
async function serving() {
  const port = await freePort();
  const { startPlaza } = main;
  const spy = spyOn(main, "startPlaza").mockImplementation(async (...given) => {
    const plaza = await startPlaza(...given);
    const stop = async (): Promise<void> => {
      await plaza.stop();
      exits.push("stopped");
    };
    return { ...plaza, stop };
  });
  afterThisTest(() => spy.mockRestore());
  const ended = work();
  channel.emit("message", sealedConfig(configAt(port)));
  await until(() => sent.length > 0);
  const ask = async (): Promise<number> => (await fetch(`http://127.0.0.1:${port}/v26.0/2001/custom_labels`)).status;
  /** The messages that the worker has sent after one more interval of reports. */
  const reported = async () => {
    sent = [];
    await until(() => reports.length > 0);
    for (const next of reports.splice(0)) next();
    for (let turn = 0; turn < 3; turn++) await nextTurn();
    return sent.map((message) => (message.kind === "served" ? message.worlds.map(({ world, requests }) => [world, requests.length]) : message));
  };
  return { ended, ask, reported };
}

describe("only the first process starts it", () => {
  test("and it says so to anybody else", async () => {
    set({ send: undefined });
    const streams = written();
    expect(await work()).toBe(1);
    expect(streams.err).toBe("plaza: worker is started only by `plaza start --workers N`\n");
    expect(exits).toEqual([]);
  });

  test("and it ends when the first process has ended, before or after", async () => {
    set({ connected: false });
    expect(await work()).toBe(1);
    expect(exits).toEqual([]);
    channel.emit("disconnect");
    expect(exits).toEqual([1]);
  });
});

test("the keys are sent as text and not in the configuration, and the worker has them unchanged", async () => {
  const [key, further] = [new Uint8Array(32).fill(255), new Uint8Array(32).fill(7)];
  const sealed = sealedConfig({ ...configAt(0), secret_key: key, further_secret_keys: [further] });
  const texts = [key, further].map((bytes) => Buffer.from(bytes).toString("base64"));
  expect(sealed).toMatchObject({ kind: "config", secretKey: texts[0], furtherSecretKeys: [texts[1]] });
  expect([sealed.config.secret_key, sealed.config.further_secret_keys]).toEqual([undefined, []]);
  const served: Config[] = [];
  const parts: (string | undefined)[] = [];
  const spy = spyOn(main, "startPlaza").mockImplementation((config, _, options) => {
    served.push(config);
    parts.push(options?.part);
    return Promise.reject(new Error("served elsewhere"));
  });
  afterThisTest(() => spy.mockRestore());
  for (const message of [sealed, sealedConfig(configAt(5))]) {
    channel = new EventEmitter();
    const ended = work();
    channel.emit("message", { ...JSON.parse(JSON.stringify(message)), config: { ...message.config, log_level: "silent" } });
    await ended;
  }
  expect(served).toMatchObject([
    { secret_key: key, further_secret_keys: [further] },
    { port: 5, secret_key: undefined, further_secret_keys: [] },
  ]);
  expect(parts).toEqual(["graph", "graph"]);
});

test("it reports that it serves, then news ten times a second; a terminal's signal does not end it", async () => {
  const { ended, ask, reported } = await serving();
  expect(sent).toEqual([{ kind: "ready" }]);
  // If a promise that nobody awaits rejects, running requests still go on.
  expect(channel.listenerCount("unhandledRejection")).toBe(1);
  expect(await reported()).toEqual([]);
  for (const _ of [1, 2]) expect(await ask()).toBe(403);
  expect(await reported()).toEqual([[["default", 2]]]);
  expect(await reported()).toEqual([]);
  expect(await ask()).toBe(403);
  expect(await reported()).toEqual([[["default", 1]]]);
  expect(sent[0]).toMatchObject({ metrics: { operations: { unknown: { requests: 3 } } } });
  for (const signal of ["SIGINT", "SIGTERM"]) expect(channel.emit(signal)).toBe(true);
  expect(exits).toEqual([]);
  channel.emit("message", STOP);
  await ended;
});

test("when it is asked to end, it sends its last report, stops serving, and exits", async () => {
  const { ended, ask } = await serving();
  await ask();
  sent = [];
  channel.emit("message", { kind: "other" });
  await nextTurn();
  expect(sent).toEqual([]);
  channel.emit("message", STOP);
  await ended;
  expect(sent).toMatchObject([{ kind: "served", worlds: [{ world: "default", requests: [{ status: 403 }] }] }]);
  expect(exits).toEqual(["stopped", "logged", 0]);
  await expect(ask()).rejects.toThrow("ECONNREFUSED");
});

test("if it cannot serve, it exits with a failure", async () => {
  const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  afterThisTest(() => other.stop(true));
  const ended = work();
  channel.emit("message", sealedConfig({ ...configAt(Number(other.port)), log_level: "silent" }));
  await ended;
  expect(exits).toEqual(["logged", 1]);
  expect(sent).toEqual([]);
});
