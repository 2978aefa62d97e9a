/** The hosts that a command tried to reach and that `--only` refused, with how often. */

/** The greatest number of hosts that are kept by name. A report of more would not be read, and a flood of names must not use up the memory. */
const HOSTS_MAX = 100;

export interface TriedHost {
  /** With its port. */
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

  /** The attempts at hosts that are not in the list, because it was full. */
  get further(): number {
    return this.#further;
  }
}
