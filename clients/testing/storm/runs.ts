/** Runs a scenario in worlds of its own, with the faults of a schedule. */
import { ControlRefusal } from "../failures.ts";
import type { World } from "../world.ts";
import { type FaultBody, type Run, type Schedule, scheduleText } from "./disturbances.ts";
import { countNodes, type LoggedDelivery, type LoggedRequest, readDeliveries, readRequests } from "./observation.ts";

/** Facts about a run that the scenario gets as its argument. */
export interface StormRun {
  /** Aborted when the time of the run is over. */
  readonly signal: AbortSignal;
  /** The faults of the run, e.g. `createLabel#1=lost-after`; empty for an undisturbed run. */
  readonly schedule: string;
}

/** The scenario: it ends without an error if the app worked correctly. */
export type Scenario = (world: World, run: StormRun) => unknown;
/** A rule about the world after a run: it returns false, or throws, if the rule is broken. */
export type Invariant = (world: World) => unknown;

/** A world for one run at a time, with the content that the world has at the beginning of each run. */
export interface Slot {
  readonly world: World;
  /** Closes everything that belongs to the world, and deletes the world. */
  delete(): Promise<void>;
}

export interface RunnerOptions {
  /** Makes a world with the content with which each run begins. */
  newSlot(): Promise<Slot>;
  readonly scenario: Scenario;
  readonly invariants: Readonly<Record<string, Invariant>>;
}

/** The result of one run. */
export interface RunResult {
  /** The broken rule; undefined if the run passed. */
  readonly problem: string | undefined;
  readonly durationMs: number;
  readonly requests: readonly LoggedRequest[];
  readonly deliveries: readonly LoggedDelivery[];
  readonly nodes: ReadonlyMap<string, number>;
}

const SNAPSHOT = "storm";
const NO_NODES: ReadonlyMap<string, number> = new Map();

export class Runner {
  readonly #options: RunnerOptions;
  readonly #hasInvariants: boolean;
  readonly #free: Slot[] = [];
  readonly #all = new Set<Slot>();
  /** The time that making the newest world took. */
  #worldMs = 0;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#hasInvariants = Object.keys(options.invariants).length > 0;
  }

  /**
   * Runs the scenario once. Rejects only if the server fails. After the scenario and the invariants, `isRight` checks the result of the run,
   * and returns the problem if there is one.
   */
  async run(schedule: Schedule, run: Run | undefined, timeoutMs: number, isRight: (result: RunResult) => string | undefined): Promise<RunResult> {
    const slot = await this.#take();
    const { world } = slot;
    for (const { point, disturbance } of schedule) await world.faults.add(disturbance.faultAt(point, run as Run) as FaultBody);
    const started = performance.now();
    const scenario = await this.#play(world, scheduleText(schedule), timeoutMs);
    const durationMs = performance.now() - started;
    await world.closeReceivers();
    // The faults are cleared, because an invariant may send requests to the graph.
    if (this.#hasInvariants) await world.faults.clear();
    const broken = scenario.problem ?? (await this.#brokenInvariant(world));
    // All due work is done before the record of an undisturbed run is read, so that the record does not depend on the speed of the machine.
    if (run === undefined) await world.clock.advance(0);
    const [requests, nodes] = await Promise.all([readRequests(world), broken === undefined ? countNodes(world) : NO_NODES]);
    const result = { problem: broken, durationMs, requests, nodes, deliveries: [] };
    const problem = broken ?? isRight(result);
    const whole = { ...result, problem, deliveries: problem === undefined && run !== undefined ? [] : await readDeliveries(world) };
    // If a scenario did not end within the time limit, it may still send requests, so its world is not used again.
    if (scenario.hasEnded) this.#free.push(slot);
    else await this.#forget(slot);
    return whole;
  }

  /** The time on a world's clock at which runs begin, the later times at which tokens expire, and the real time that making a world took. */
  async timesOf(): Promise<Pick<Run, "startedAt" | "expiries"> & { readonly worldMs: number }> {
    const slot = await this.#take();
    const [{ now }, tokens] = await Promise.all([slot.world.clock.read(), slot.world.tokens.list()]);
    this.#free.push(slot);
    const expiries = tokens.map(({ expires_at }) => expires_at).filter((time) => time > now);
    return { startedAt: now, expiries: expiries.sort((one, other) => one - other), worldMs: this.#worldMs };
  }

  /** Deletes all worlds. */
  async close(): Promise<void> {
    await Promise.all([...this.#all].map((slot) => this.#forget(slot)));
  }

  async #forget(slot: Slot): Promise<void> {
    this.#all.delete(slot);
    await slot.delete();
  }

  /** Returns a world in the state in which each run begins. */
  async #take(): Promise<Slot> {
    const free = this.#free.pop();
    if (free !== undefined && (await isRestored(free))) return free;
    if (free !== undefined) await this.#forget(free);
    return this.#make();
  }

  async #make(): Promise<Slot> {
    const started = performance.now();
    const slot = await this.#options.newSlot();
    this.#all.add(slot);
    await slot.world.snapshot(SNAPSHOT);
    this.#worldMs = performance.now() - started;
    return slot;
  }

  async #play(world: World, schedule: string, timeoutMs: number): Promise<{ readonly problem: string | undefined; readonly hasEnded: boolean }> {
    const abort = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<"late">((resolve) => {
      timer = setTimeout(() => resolve("late"), timeoutMs);
    });
    const play = async (): Promise<string | undefined> => {
      try {
        await this.#options.scenario(world, { signal: abort.signal, schedule });
        return undefined;
      } catch (error) {
        return messageOf(error);
      }
    };
    const ended = await Promise.race([play().then((problem) => ({ problem, hasEnded: true })), late]);
    clearTimeout(timer);
    abort.abort();
    return ended === "late" ? { problem: `the scenario did not end within ${timeoutMs} ms`, hasEnded: false } : ended;
  }

  async #brokenInvariant(world: World): Promise<string | undefined> {
    for (const [name, holds] of Object.entries(this.#options.invariants)) {
      try {
        if ((await holds(world)) === false) return `the invariant "${name}" does not hold`;
      } catch (error) {
        return `the invariant "${name}" does not hold: ${messageOf(error)}`;
      }
    }
    return undefined;
  }
}

/**
 * Restores the snapshot of a world. Returns false if the world has no snapshot, because the scenario replaced the world
 * (`withPlaza({ world })`).
 */
async function isRestored({ world }: Slot): Promise<boolean> {
  try {
    await world.restore(SNAPSHOT);
    return true;
  } catch (error) {
    if (error instanceof ControlRefusal && error.status === NOT_FOUND) return false;
    throw error;
  }
}

const NOT_FOUND = 404;

/** The number of lines of an error's message that are kept, because a report with many failures must stay readable. */
const LINES_MAX = 12;

const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split("\n").slice(0, LINES_MAX).join("\n").trim() || "an error without a message";
