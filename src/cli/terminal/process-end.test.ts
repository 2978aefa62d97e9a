/** Checks the end of the program after a signal. */
import { expect, spyOn, test } from "bun:test";
import { afterThisTest } from "#harness/cleanup";
import type { Log } from "#telemetry/log";
import { endWhenAsked, nextSignal } from "../process-end.ts";

/** Records the steps of the end, in their order; the test's process itself continues. */
function ending() {
  const steps: string[] = [];
  const spy = spyOn(process, "exit").mockImplementation(((code: number) => {
    steps.push(`exit ${code}`);
    return code;
  }) as unknown as typeof process.exit);
  afterThisTest(() => spy.mockRestore());
  const log = {
    info: (fields: { signal?: string }, text: string) => steps.push(`${text} (${fields.signal})`),
    error: (_: object, text: string) => steps.push(text),
    flush: async () => {
      await Promise.resolve();
      steps.push("flushed");
    },
  } as unknown as Log;
  return { steps, log };
}

const ASKED = "ending: running requests finish (SIGTERM)";

test("it ends when the server has ended and everything is logged; a server that could not end is a failure", async () => {
  const { steps, log } = ending();
  let end = (): void => {};
  const stopped = new Promise<void>((resolve) => {
    end = () => {
      steps.push("stopped");
      resolve();
    };
  });
  const code = endWhenAsked(Promise.resolve("SIGTERM"), { stop: () => stopped }, log);
  await Bun.sleep(0);
  expect(steps).toEqual([ASKED]);
  end();
  expect(await code).toBe(0);
  expect(steps).toEqual([ASKED, "stopped", "flushed", "exit 0"]);
  steps.length = 0;
  expect(await endWhenAsked(Promise.resolve("SIGTERM"), { stop: () => Promise.reject(new Error("no")) }, log)).toBe(1);
  expect(steps).toEqual([ASKED, "the server did not end cleanly", "flushed", "exit 1"]);
});

test("a second signal ends it at once", async () => {
  const { steps, log } = ending();
  const code = endWhenAsked(Promise.resolve("SIGTERM"), { stop: () => new Promise(() => {}) }, log);
  await Bun.sleep(0);
  process.emit("SIGINT", "SIGINT");
  expect(await code).toBe(0);
  expect(steps).toEqual([ASKED, "flushed", "exit 0"]);
});

test.each(["SIGTERM", "SIGINT"] as const)("%s is handled once: the next one ends the process", async (signal) => {
  const before = ["SIGTERM", "SIGINT"].map((name) => process.listenerCount(name));
  const next = nextSignal();
  process.emit(signal, signal);
  expect(await next).toBe(signal);
  expect(["SIGTERM", "SIGINT"].map((name) => process.listenerCount(name))).toEqual(before);
});
