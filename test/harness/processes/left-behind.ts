/** Finds resources that a part of the program opened and did not release: timers, listeners, files, connections and child processes. */
import { spyOn } from "bun:test";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { afterThisTest } from "../cleanup.ts";

/**
 * The folder of the PostgreSQL driver, whose resources are not counted. The driver of PostgreSQL has timers because it limits the time of each
 * statement, and its connections outlast a test.
 */
const DRIVER = "/node_modules/pg/";

export interface LeftBehind {
  /** The timers that still run, each with the line of code that set it. */
  timers(): string[];
  /** The listeners of signals and other events of the process, and of abort signals. */
  listeners(): string[];
  /** The open files, sockets and pipes of this process, if the system lists them. Files that were open before the test do not count. */
  files(): string[];
  /** The ids of the child processes of this process, if the system lists them. */
  children(): string[];
  /**
   * Waits until `isSo` returns true, but only for a few seconds. If the wait ends without success, the test fails and shows the resources that are
   * left.
   */
  until(isSo: () => boolean): Promise<void>;
}

/** The longest wait for resources to disappear, because the system takes some milliseconds to end a connection or a process. */
const UNTIL_MS_MAX = 5_000;

/** Counts the resources that are opened from this call to the end of the test. */
export function countLeftBehind(): LeftBehind {
  const timers = countTimers();
  const aborts = countAbortListeners();
  const [filesBefore, childrenBefore, eventsBefore] = [new Set(openFiles()), new Set(childIds()), processListeners()];
  return {
    timers: () => [...timers.values()],
    listeners: () => [...aborts(), ...processListeners().filter((one) => !eventsBefore.includes(one))],
    files: () => openFiles().filter((one) => !filesBefore.has(one)),
    children: () => childIds().filter((one) => !childrenBefore.has(one)),
    until: async (isSo) => {
      for (const endMs = performance.now() + UNTIL_MS_MAX; !isSo() && performance.now() < endMs; ) await Bun.sleep(5);
    },
  };
}

function countTimers(): ReadonlyMap<unknown, string> {
  const running = new Map<unknown, string>();
  const { setTimeout, setInterval, clearTimeout, clearInterval } = globalThis;
  const setting = (set: typeof setTimeout | typeof setInterval) =>
    ((fire: (...given: unknown[]) => void, ms: number, ...given: unknown[]) => {
      const place = placeIn(new Error().stack ?? "");
      const once = set === setTimeout;
      const timer = set(() => {
        if (once) running.delete(timer);
        fire(...given);
      }, ms);
      if (!place.includes(DRIVER)) running.set(timer, place);
      return timer;
    }) as never;
  const clearing = (clear: typeof clearTimeout) => (timer?: ReturnType<typeof setTimeout>) => {
    running.delete(timer);
    clear(timer);
  };
  const spies = [
    spyOn(globalThis, "setTimeout").mockImplementation(setting(setTimeout)),
    spyOn(globalThis, "setInterval").mockImplementation(setting(setInterval)),
    spyOn(globalThis, "clearTimeout").mockImplementation(clearing(clearTimeout) as never),
    spyOn(globalThis, "clearInterval").mockImplementation(clearing(clearInterval) as never),
  ];
  afterThisTest(() => {
    for (const spy of spies) spy.mockRestore();
  });
  return running;
}

/** The line of code that called a function of this file. */
const placeIn = (stack: string): string =>
  stack
    .split("\n")
    .slice(1)
    .find((line) => line.includes("/") && !line.includes(import.meta.path))
    ?.trim() ?? stack;

function countAbortListeners(): () => string[] {
  const added = new Map<AbortSignal, Map<unknown, string>>();
  const { addEventListener, removeEventListener } = AbortSignal.prototype;
  const spies = [
    spyOn(AbortSignal.prototype, "addEventListener").mockImplementation(function add(
      this: AbortSignal,
      ...given: Parameters<typeof addEventListener>
    ) {
      const known = added.get(this) ?? new Map<unknown, string>();
      added.set(this, known.set(given[1], placeIn(new Error().stack ?? "")));
      addEventListener.apply(this, given);
    } as never),
    spyOn(AbortSignal.prototype, "removeEventListener").mockImplementation(function remove(
      this: AbortSignal,
      ...given: Parameters<typeof removeEventListener>
    ) {
      added.get(this)?.delete(given[1]);
      removeEventListener.apply(this, given);
    } as never),
  ];
  afterThisTest(() => {
    for (const spy of spies) spy.mockRestore();
  });
  return () => [...added.values()].flatMap((listeners) => [...listeners.values()]);
}

const processListeners = (): string[] =>
  process.eventNames().flatMap((name) => process.listeners(name as "exit").map((_, at) => `${String(name)} ${at}`));

const FILES = "/proc/self/fd";

/** The open files by number and name, because the system gives the number of a closed file to another file. */
function openFiles(): string[] {
  if (!existsSync(FILES)) return [];
  return readdirSync(FILES).flatMap((number) => {
    try {
      return [`${number} ${readlinkSync(`${FILES}/${number}`)}`];
    } catch {
      // The file descriptor that this reading itself opens.
      return [];
    }
  });
}

/**
 * The ids of child processes. In the file `stat`, the parent process is the fourth field, and the second field, the name of the program, may contain
 * spaces and brackets.
 */
function childIds(): string[] {
  if (!existsSync("/proc/self/stat")) return [];
  return readdirSync("/proc").filter((id) => {
    if (!/^\d+$/.test(id)) return false;
    try {
      return (
        readFileSync(`/proc/${id}/stat`, "utf8")
          .replace(/^.*\) /s, "")
          .split(" ")[1] === String(process.pid)
      );
    } catch {
      return false;
    }
  });
}
