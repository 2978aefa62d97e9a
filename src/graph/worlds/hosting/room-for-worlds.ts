/**
 * Limits how many worlds are open at a time (D-332). Each open world has open files or connections to its database, so a caller who names many worlds
 * would use up the files and connections that all clients share. A world that opens takes the place of the world whose last use is longest ago.
 */
import { overloaded } from "#kernel/errors";

/** The longest wait for a place, which is longer than most requests take. */
const WAIT_MS_MAX = 2_000;
const LOOK_EVERY_MS = 10;
/** The wait that a refused client is asked for. By then some of the requests have ended. */
const RETRY_AFTER_SECONDS = 1;

export class RoomForWorlds {
  readonly #max: number;
  readonly #closeOne: () => Promise<boolean>;
  #taken = 0;
  /**
   * The promise of the last closing of a world. Worlds are closed one after the other, so that several worlds that open do not close the same one.
   */
  #closing: Promise<unknown> = Promise.resolve();

  /** `max` is the greatest number of open worlds. `closeOne` closes a world, and resolves with whether it has closed one. */
  constructor(max: number, closeOne: () => Promise<boolean>) {
    this.#max = max;
    this.#closeOne = closeOne;
  }

  /** Takes a place before a world opens. Rejects with `overloaded` if all other worlds stay in use. */
  async take(): Promise<void> {
    for (let waitedMs = 0; this.#taken >= this.#max; ) {
      if (await this.#makeRoom()) continue;
      if (waitedMs >= WAIT_MS_MAX) throw overloaded(RETRY_AFTER_SECONDS);
      // The wait is a timer, because a world does not report when its work becomes idle.
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      waitedMs += LOOK_EVERY_MS;
    }
    this.#taken++;
  }

  /** Gives a place back after its world was closed. */
  leave(): void {
    this.#taken--;
  }

  #makeRoom(): Promise<boolean> {
    const made = this.#closing.then(async () => this.#taken < this.#max || (await this.#closeOne()));
    this.#closing = made.catch(() => {});
    return made;
  }
}
