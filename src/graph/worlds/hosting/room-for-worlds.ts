/**
 * How many worlds are open at a time (D-332). Each has open files or connections to its database, so somebody who names many worlds would use up what
 * all clients share. A world that opens takes the place of the one whose last use is longest ago.
 */
import { overloaded } from "#kernel/errors";

/** Longer than most requests take. */
const WAIT_MS_MAX = 2_000;
const LOOK_EVERY_MS = 10;
/** By then some of the requests have ended. */
const RETRY_AFTER_SECONDS = 1;

export class RoomForWorlds {
  readonly #max: number;
  readonly #closeOne: () => Promise<boolean>;
  #taken = 0;
  /** Worlds are closed one after the other, so that several that open do not close the same one. */
  #closing: Promise<unknown> = Promise.resolve();

  /** `closeOne` resolves with whether it closed a world. */
  constructor(max: number, closeOne: () => Promise<boolean>) {
    this.#max = max;
    this.#closeOne = closeOne;
  }

  /** Before a world opens. Rejects with `overloaded` if all others stay in use. */
  async take(): Promise<void> {
    for (let waitedMs = 0; this.#taken >= this.#max; ) {
      if (await this.#makeRoom()) continue;
      if (waitedMs >= WAIT_MS_MAX) throw overloaded(RETRY_AFTER_SECONDS);
      // A timer, because nothing tells when the work of a world is at rest.
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      waitedMs += LOOK_EVERY_MS;
    }
    this.#taken++;
  }

  /** After a world that took its place was closed. */
  leave(): void {
    this.#taken--;
  }

  #makeRoom(): Promise<boolean> {
    const made = this.#closing.then(async () => this.#taken < this.#max || (await this.#closeOne()));
    this.#closing = made.catch(() => {});
    return made;
  }
}
