/** How many runs of one kind there are in this process, where the kind has a limit: a kind whose work callers cause leaves space for others. */
import type { JobKind } from "./job-kind.ts";

interface Load {
  readonly max: NonNullable<JobKind["atOnceMax"]>;
  running: number;
  waiting: number;
  /** Runs whose wait has ended, in their order: they go on when another one of the kind ends or waits. */
  readonly ready: (() => void)[];
}

export class KindLoads {
  readonly #loads = new Map<string, Load>();

  constructor(kinds: readonly Pick<JobKind, "kind" | "atOnceMax">[]) {
    for (const { kind, atOnceMax } of kinds)
      if (atOnceMax !== undefined) this.#loads.set(kind, { max: atOnceMax, running: 0, waiting: 0, ready: [] });
  }

  /** The kinds of which no further job can begin. */
  full(): string[] {
    return [...this.#loads].filter(([, load]) => capacityOf(load) <= 0).map(([kind]) => kind);
  }

  /** The first of the rows that may begin together. */
  fitting<R extends { readonly kind: string }>(rows: readonly R[], limit: number): R[] {
    const taken = new Map<string, number>();
    const fits = ({ kind }: R): boolean => {
      const load = this.#loads.get(kind);
      const before = taken.get(kind) ?? 0;
      taken.set(kind, before + 1);
      return load === undefined || before < capacityOf(load);
    };
    return rows.filter(fits).slice(0, limit);
  }

  begin(kind: string): void {
    const load = this.#loads.get(kind);
    if (load !== undefined) load.running++;
  }

  end(kind: string): void {
    const load = this.#loads.get(kind);
    if (load === undefined) return;
    load.running--;
    load.ready.shift()?.();
  }

  /** Rejects with what `wait` rejects with. Goes on when the kind has capacity for it. */
  async whileWaiting<T>(kind: string, wait: () => Promise<T>): Promise<T> {
    const load = this.#loads.get(kind);
    if (load === undefined) return wait();
    this.end(kind);
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

/** What waits for its turn goes first. */
const capacityOf = ({ max, running, waiting, ready }: Load): number =>
  waiting >= max.waiting || ready.length > 0 ? 0 : Math.min(max.running - running, max.waiting - waiting);
