/** The addresses of a name, kept for a moment, since thousands of deliveries a second go to few names. */
import { lookup } from "node:dns/promises";
import { BoundedMap } from "#kernel/bounded-map";
import { RequestFailed } from "./request.ts";

/** All addresses of a name, IPv4 and IPv6; rejects when it has none. */
export type ResolveName = (name: string) => Promise<readonly string[]>;

/** Short against the time in which a receiver is moved. The address that is connected to was checked, however old it is. */
const KEPT_MS = 5_000;
const NAMES_MAX = 10_000;

export const systemNames: ResolveName = async (name) => (await lookup(name, { all: true })).map(({ address }) => address);

interface Kept {
  readonly addresses: Promise<readonly string[]>;
  readonly untilMs: number;
}

export class Names {
  readonly #resolve: ResolveName;
  readonly #kept = new BoundedMap<string, Kept>(NAMES_MAX);

  constructor(resolve: ResolveName) {
    this.#resolve = resolve;
  }

  /** Rejects with `RequestFailed`. */
  addressesOf(name: string): Promise<readonly string[]> {
    // time: of the network, not of a world.
    const now = performance.now();
    const kept = this.#kept.get(name);
    if (kept !== undefined && now < kept.untilMs) return kept.addresses;
    const addresses = this.#ask(name);
    this.#kept.set(name, { addresses, untilMs: now + KEPT_MS });
    // After a failure the next request asks again.
    addresses.catch(() => {
      if (this.#kept.get(name)?.addresses === addresses) this.#kept.delete(name);
    });
    return addresses;
  }

  async #ask(name: string): Promise<readonly string[]> {
    let addresses: readonly string[];
    try {
      addresses = await this.#resolve(name);
    } catch {
      addresses = [];
    }
    if (addresses.length === 0) throw new RequestFailed("dns", `${name} has no address`);
    return addresses;
  }
}
