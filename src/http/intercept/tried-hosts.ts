/** Counts how often a command tried to reach each host that `--only` refused. */

/**
 * The maximum number of hosts whose names are stored. The number is limited because nobody would read a longer report, and because a flood of names
 * must not use up the memory.
 */
const HOSTS_MAX = 100;

export interface TriedHost {
  /** The host with its port. */
  readonly host: string;
  readonly count: number;
}

export class TriedHosts {
  readonly #counts = new Map<string, number>();
  #further = 0;

  add(host: string): void {
    const count = this.#counts.get(host);
    if (count !== undefined) this.#counts.set(host, count + 1);
    else if (this.#counts.size < HOSTS_MAX) this.#counts.set(host, 1);
    else this.#further++;
  }

  list(): TriedHost[] {
    return [...this.#counts].map(([host, count]) => ({ host, count }));
  }

  /** The number of attempts to reach hosts that are not in the list because the list was full. */
  get further(): number {
    return this.#further;
  }
}
