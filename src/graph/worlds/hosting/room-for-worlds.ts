/**
 * Limits the number of worlds that are open at the same time (D-332). Each open world has open files or connections to its database, so a caller who
 * names many worlds would use up the files and connections of all clients. When the limit is reached and a world must open, the least recently used
 * world is closed.
 */
import { overloaded } from "#kernel/errors";

/** The longest time for which the opening of a world waits until another world can be closed. Most requests take less time than this. */
const WAIT_MS_MAX = 2_000;
const LOOK_EVERY_MS = 10;
/** The value of the header Retry-After in the response to a refused client. After this time some of the running requests have ended. */
const RETRY_AFTER_SECONDS = 1;

export class RoomForWorlds {
  readonly #max: number;
  readonly #closeOne: () => Promise<boolean>;
  #taken = 0;
  /**
   * A promise that resolves when the last closing of a world has ended. Worlds are closed one after the other, so that two openings do not wait for
   * the closing of the same world.
   */
  #closing: Promise<unknown> = Promise.resolve();

  /**
   * `max` is the greatest number of open worlds. `closeOne` closes a world that is not in use, and resolves with false if no world could be closed.
   */
  constructor(max: number, closeOne: () => Promise<boolean>) {
    this.#max = max;
    this.#closeOne = closeOne;
  }

  /** Reserves one of the `max` open worlds for a world that will open. Rejects with `overloaded` if all open worlds stay in use. */
  async take(): Promise<void> {
    for (let waitedMs = 0; this.#taken >= this.#max; ) {
      if (await this.#makeRoom()) continue;
      if (waitedMs >= WAIT_MS_MAX) throw overloaded(RETRY_AFTER_SECONDS);
      // The wait is a timer, because a world sends no event when its work is done.
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      waitedMs += LOOK_EVERY_MS;
    }
    this.#taken++;
  }

  /** Ends the reservation for a world after the world was closed. */
  leave(): void {
    this.#taken--;
  }

  #makeRoom(): Promise<boolean> {
    const made = this.#closing.then(async () => this.#taken < this.#max || (await this.#closeOne()));
    this.#closing = made.catch(() => {});
    return made;
  }
}
