/**
 * Counts this process's runs of each kind of job that has limits. If callers cause the jobs of a kind, that kind must leave capacity for other kinds,
 * and one caller's jobs must leave capacity for the jobs of others.
 */
import type { JobKind } from "./job-kind.ts";
import type { FullKinds, JobRow } from "./jobs.store.ts";

type Started = Pick<JobRow, "kind" | "share">;

interface Load {
  readonly max: NonNullable<JobKind["atOnceMax"]>;
  running: number;
  waiting: number;
  /** The number of runs of each owner, including runs that wait. */
  readonly ofShares: Map<string, number>;
  /**
   * Functions that continue the runs whose wait for another server is over. The functions are in the order in which the waits ended. A run in this
   * list continues when another run of the kind ends or begins to wait.
   */
  readonly ready: (() => void)[];
}

export class KindLoads {
  readonly #loads = new Map<string, Load>();

  constructor(kinds: readonly Pick<JobKind, "kind" | "atOnceMax">[]) {
    for (const { kind, atOnceMax } of kinds)
      if (atOnceMax !== undefined) this.#loads.set(kind, { max: atOnceMax, running: 0, waiting: 0, ofShares: new Map(), ready: [] });
  }

  /** Returns the kinds of jobs that have reached their limit, and the owners that have reached the limit of a kind. */
  full(): FullKinds {
    const kinds = [...this.#loads].filter(([, load]) => capacityOf(load) <= 0).map(([kind]) => kind);
    const shares = [...this.#loads].flatMap(([kind, { max, ofShares }]) =>
      [...ofShares].filter(([, count]) => count >= ofShareMax(max)).map(([share]) => ({ kind, share })),
    );
    return { kinds, shares };
  }

  /** Selects from the rows, in their order, the jobs that may begin now without exceeding a limit. */
  fitting<R extends Started>(rows: readonly R[], limit: number): R[] {
    const [taken, takenOfShares] = [new Map<string, number>(), new Map<string, number>()];
    const fits = ({ kind, share }: R): boolean => {
      const load = this.#loads.get(kind);
      if (load === undefined) return true;
      const name = `${kind} ${share}`;
      const [before, beforeOfShare] = [taken.get(kind) ?? 0, takenOfShares.get(name) ?? load.ofShares.get(share) ?? 0];
      if (before >= capacityOf(load) || beforeOfShare >= ofShareMax(load.max)) return false;
      taken.set(kind, before + 1);
      takenOfShares.set(name, beforeOfShare + 1);
      return true;
    };
    return rows.filter(fits).slice(0, limit);
  }

  begin({ kind, share }: Started): void {
    const load = this.#loads.get(kind);
    if (load === undefined) return;
    load.running++;
    load.ofShares.set(share, (load.ofShares.get(share) ?? 0) + 1);
  }

  end({ kind, share }: Started): void {
    const load = this.#loads.get(kind);
    if (load === undefined) return;
    stopRunning(load);
    const others = (load.ofShares.get(share) ?? 0) - 1;
    if (others > 0) load.ofShares.set(share, others);
    else load.ofShares.delete(share);
  }

  /**
   * Runs `wait`, and resolves when the wait is over and the kind has capacity for another running job. The returned promise rejects if the promise of
   * `wait` rejects.
   */
  async whileWaiting<T>(kind: string, wait: () => Promise<T>): Promise<T> {
    const load = this.#loads.get(kind);
    if (load === undefined) return wait();
    stopRunning(load);
    load.waiting++;
    try {
      return await wait();
    } finally {
      while (load.running >= load.max.running) await new Promise<void>((go) => load.ready.push(go));
      load.waiting--;
      load.running++;
    }
  }
}

function stopRunning(load: Load): void {
  load.running--;
  load.ready.shift()?.();
}

const ofShareMax = ({ ofShare }: Load["max"]): number => ofShare ?? Number.POSITIVE_INFINITY;

/** The number of jobs of the kind that may begin. Runs that are ready to continue have precedence over new runs. */
const capacityOf = ({ max, running, waiting, ready }: Load): number =>
  waiting >= max.waiting || ready.length > 0 ? 0 : Math.min(max.running - running, max.waiting - waiting);
