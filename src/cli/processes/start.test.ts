/**
 * Tests the output, the end and the exit code of `plaza start`, without a real server. The tests of `plaza start` with a real server are in test/cli.
 */
import { beforeEach, describe, expect, spyOn, test } from "bun:test";
import { EventEmitter } from "node:events";
import { forTests } from "#config/for-tests";
import { afterThisTest } from "#harness/cleanup";
import { written } from "#harness/cli/printed";
import { variables } from "#harness/cli/variables";
import { nextTurn } from "#kernel/turns";
import * as main from "#main";
import * as logs from "#telemetry/log";
import { start } from "../start.ts";
import * as workers from "../workers.ts";

/** Emits signals, and the event that the launcher's channel has closed. */
let own = new EventEmitter();
/** The steps in which the program starts and ends, in their order. */
let steps: string[] = [];
let ask: (reason: string) => void = () => {};
/** The options of each log, and the logged lines. */
let made: logs.LogOptions[] = [];
let lines: unknown[] = [];

const READY = { ready: true, base_url: "http://g", control_url: "http://c", control_key: "the-key", rtmp_url: null, pid: 7 };

beforeEach(() => {
  [own, steps, made, lines] = [new EventEmitter(), [], [], []];
  variables({ PLAZA_DATA: undefined, PLAZA_CONFIG: undefined, PLAZA_CONTROL_KEY: undefined });
  const before = process.send;
  const streams = [process.stdout, process.stderr].map((stream) => ({ stream, listeners: stream.listeners("error") }));
  const asked = Promise.withResolvers<string>();
  ask = asked.resolve;
  const served = (kind: string) => async () => {
    steps.push(kind);
    const stop = async (): Promise<void> => {
      await nextTurn();
      steps.push("stopped");
    };
    return { ready: READY, demo: undefined, newestVersion: "v26.0", stopAsked: asked.promise, stop } as never;
  };
  const listen = ((name: string, listener: () => void) => {
    own.on(name, listener);
    return process;
  }) as never;
  const spies = [
    spyOn(main, "startPlaza").mockImplementation(served("one process")),
    spyOn(workers, "startWithWorkers").mockImplementation(served("several processes")),
    spyOn(process, "on").mockImplementation(listen),
    spyOn(process, "once").mockImplementation(listen),
    spyOn(process, "kill").mockImplementation(((pid: number, signal: string) => steps.push(`${signal} to ${pid === process.pid}`)) as never),
    spyOn(process, "exit").mockImplementation(((code: number) => {
      steps.push(`exit ${code}`);
      return code;
    }) as never),
    spyOn(logs, "Log").mockImplementation(function lone(options: logs.LogOptions) {
      made.push(options);
      const line = (level: string) => (fields: object, text: string) => lines.push([level, text, fields]);
      const flush = async (): Promise<void> => {
        await nextTurn();
        steps.push("logged");
      };
      return { error: line("error"), warn: line("warn"), info: line("info"), flush };
    } as never),
  ];
  afterThisTest(() => {
    for (const spy of spies) spy.mockRestore();
    Object.assign(process, { send: before });
    // `start` adds listeners for the end of its output, and the test removes these listeners here.
    for (const { stream, listeners } of streams)
      for (const one of stream.listeners("error")) if (!listeners.includes(one)) stream.removeListener("error", one as () => void);
  });
});

/** Starts the server and waits until it has printed its output. */
async function started(flags: Readonly<Record<string, unknown>>) {
  const streams = written();
  const code = start({ ...forTests, log_level: "silent", ...flags });
  while (steps.length === 0) await nextTurn();
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  return { code, streams };
}

describe("it prints", () => {
  test("one line of JSON if asked to", async () => {
    const { streams } = await started({ json: true });
    expect(streams.out).toBe(`${JSON.stringify(READY)}\n`);
  });

  test("a person's first steps in a sandbox, and nothing otherwise", async () => {
    const sandbox = await started({ json: false, callback: "http://r/" });
    ask("the control API");
    await sandbox.code;
    expect(sandbox.streams.out).toContain("Plaza is ready.");
    expect(sandbox.streams.out).toContain("\n  webhooks to   http://r/\n");
    variables({ PLAZA_CONTROL_KEY: "a-control-key-of-the-operator" });
    const server = await started({ json: false, sandbox: false });
    await server.code;
    expect(server.streams).toEqual({ out: "", err: "" });
  });
});

test("a signal or its API ends it, after the server has stopped and its log is complete", async () => {
  const asked = await started({});
  expect(steps).toEqual(["one process"]);
  ask("the control API");
  expect(await asked.code).toBe(0);
  expect(steps).toEqual(["one process", "stopped", "logged", "exit 0"]);
  steps = [];
  const signalled = await started({});
  own.emit("SIGTERM", "SIGTERM");
  expect(await signalled.code).toBe(0);
});

test("the log follows the options, names the server's addresses and unused variables, and never the key", async () => {
  variables({ PLAZA_PROT: "1" });
  const { code } = await started({ log_level: "debug", pretty: true });
  ask("the control API");
  await code;
  // Until the options are read, the log has its default options.
  expect(made).toEqual([
    { level: "info", isPretty: false },
    { level: "debug", isPretty: true },
  ]);
  const { control_key: _, ready: __, ...addresses } = READY;
  expect(lines).toEqual([
    ["warn", expect.stringContaining("Plaza does not read the variable PLAZA_PROT"), {}],
    ["info", "ready", addresses],
    ["info", expect.stringContaining("ending"), { signal: "the control API" }],
  ]);
  expect(own.listenerCount("unhandledRejection")).toBe(1);
});

test("several processes serve if more than one is requested", async () => {
  await started({ data: "postgres://127.0.0.1:1/none", workers: 2 });
  expect(steps).toEqual(["several processes"]);
});

test("the launcher's end ends it as a signal does; without a launcher it waits for no end", async () => {
  await started({});
  expect(own.listenerCount("disconnect")).toBe(0);
  Object.assign(process, { send: () => true });
  await started({});
  own.emit("disconnect");
  expect(steps.at(-1)).toBe("SIGTERM to true");
});

test("a wrong option is reported in one line, and nothing starts", async () => {
  const streams = written();
  expect(await start({ ...forTests, port: "many" })).toBe(2);
  expect(streams.out).toBe("");
  expect(streams.err).toStartWith("plaza: --port: ");
  expect(steps).toEqual(["logged", "exit 2"]);
});

test("an unexpected failure exits with another code", async () => {
  const spy = spyOn(main, "startPlaza").mockImplementation(() => Promise.reject(Object.assign(new Error("no"), { name: "MigrationFailed" })));
  afterThisTest(() => spy.mockRestore());
  const streams = written();
  expect(await start({ ...forTests, log_level: "silent" })).toBe(1);
  expect(streams.err).toBe("plaza: no\n");
  expect(steps).toEqual(["logged", "exit 1"]);
});
