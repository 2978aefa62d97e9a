/**
 * The audit list of control keys (D-331), stored in the first world.
 *
 * **Invariant:** the entry of a request is stored before the request is handled, and the result is stored before the response is sent.
 */
import { endAudit, insertAudit } from "#auth/control-audit.store";
import type { CallerKey, ControlDeps, ControlRoute } from "#control-contract/route";
import { isWorldName } from "#graph/worlds/hosting/worlds.store";

const DAY_MS = 86_400_000;

/** Returns the time, in Unix ms, before which audit entries are deleted. */
export const auditKeptFrom = ({ audit, realTime }: ControlDeps): number => realTime.nowMs() - audit.days * DAY_MS;

/** The number of digits of the time in an id. With 15 digits for the time, ids of entries are in the order of time until the year 33658. */
const MS_DIGITS = 15;
const RANDOM_BYTES = 8;

export class Audit {
  readonly #deps: ControlDeps;
  #lastMs = 0;

  constructor(deps: ControlDeps) {
    this.#deps = deps;
  }

  /**
   * Returns whether an allowed request gets an entry in the audit list. Requests that change data or read secrets get an entry; other
   * requests get an entry only if `audit.reads` is set.
   */
  isKept(
    { method, readsSecrets }: ControlRoute,
    { access }: CallerKey,
    path: Readonly<Record<string, string>>,
    query: Readonly<Record<string, string>>,
  ): boolean {
    return this.#deps.audit.reads || method !== "GET" || (access === "full" && readsSecrets?.(path, query) === true);
  }

  /**
   * Stores an audit entry for a request, and returns a function that stores the request's result. If `begin` rejects, no entry is stored, and
   * the request must not be handled.
   */
  async begin(
    { operation, method, path: route }: ControlRoute,
    { stored }: CallerKey,
    named: string | undefined,
  ): Promise<(status: number) => Promise<void>> {
    const { realTime, newRandom, worlds } = this.#deps;
    const time_ms = realTime.nowMs();
    // The time in an id is always greater than the time in the previous id, even within the same millisecond or if the machine's clock goes back.
    this.#lastMs = Math.max(this.#lastMs + 1, time_ms);
    const id = String(this.#lastMs).padStart(MS_DIGITS, "0") + newRandom(RANDOM_BYTES);
    const of = { key_id: stored?.id ?? "0", key_name: stored?.name ?? "configured" };
    // A name that no world can have is not stored, because the caller could put any text into it.
    const world = named === undefined || !isWorldName(named) ? "" : named;
    const row = { id, time_ms, ...of, operation, method, route, world, status: 0 };
    await worlds.default.database.write((tx) => insertAudit(tx, row, auditKeptFrom(this.#deps)));
    return (status) => worlds.default.database.write((tx) => endAudit(tx, id, status));
  }
}
