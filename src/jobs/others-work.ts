/** What other processes on the same database run while a caller waits here until all due work has happened. */
import type { WorkSource } from "./work-source.ts";

/** Interval of looking. */
const LOOK_MS = 5;
/** In all of one wait: most jobs take some ms, and who fetches a file or hangs is not waited for. */
const WAIT_MS_MAX = 2_000;

export class OthersWork {
  readonly #sources: readonly WorkSource[];
  readonly #endMs = performance.now() + WAIT_MS_MAX;

  constructor(sources: readonly WorkSource[]) {
    this.#sources = sources;
  }

  /** Returns whether work is still due, after a pause: other processes run it, or left it to be claimed. `nowMs`: world time. */
  async wait(nowMs: number): Promise<boolean> {
    if (performance.now() >= this.#endMs || !(await this.#hasDue(nowMs))) return false;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    return true;
  }

  async #hasDue(nowMs: number): Promise<boolean> {
    return (await Promise.all(this.#sources.map((source) => source.hasDueAnywhere?.(nowMs)))).includes(true);
  }
}
