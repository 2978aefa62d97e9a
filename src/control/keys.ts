/** Whether a request's key is one of the control API's, and what it may do: the configured key, or one that is stored (D-170). */
import { timingSafeEqual } from "node:crypto";
import { type ControlKeyRow, findControlKey } from "#auth/control-keys.store";
import { hashOf } from "#auth/tokens";
import type { CallerKey } from "#control-contract/route";
import type { Reader } from "#storage/database";

export class ControlKeys {
  readonly #configured: string;
  readonly #reader: () => Reader;
  readonly #realNowMs: () => number;

  constructor(configured: string, reader: () => Reader, realNowMs: () => number) {
    this.#configured = hashOf(configured);
    this.#reader = reader;
    this.#realNowMs = realNowMs;
  }

  /** undefined for what is no key, or none any more. Rejects when the database cannot be reached. */
  async find(value: string): Promise<CallerKey | undefined> {
    const hash = hashOf(value);
    const stored = await findControlKey(this.#reader(), hash);
    // A configured key that was replaced is stored as well, with its end.
    if (stored !== undefined) return this.#isValid(stored) ? { hash, access: stored.access as CallerKey["access"], stored } : undefined;
    return timingSafeEqual(Buffer.from(hash), Buffer.from(this.#configured)) ? { hash, access: "full", stored: undefined } : undefined;
  }

  #isValid({ expires_ms }: ControlKeyRow): boolean {
    return expires_ms === 0 || expires_ms > this.#realNowMs();
  }
}
