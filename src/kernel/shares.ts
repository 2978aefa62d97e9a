/**
 * Shares a capacity among callers, so that a flood costs only the caller who makes it. A caller alone may hold all of it. Once it is
 * full, only callers who hold less than an equal share get more, and the others wait until what they hold is done.
 *
 * Callers stand on two levels: an app, and an address that uses it. The capacity is divided among the apps that hold some of it, and
 * the share of an app among its addresses. All of them together hold at most the capacity times 1 + ln(number of callers), because
 * the nth one that comes to a full server gets an nth part; and as each ends what it held above its share, at most the capacity.
 */
export interface Capacity {
  /** Requests. */
  readonly count: number;
  /** Whatever makes one request larger than another, e.g. bytes. */
  readonly size: number;
}

/** What a caller holds. */
export class Account {
  count = 0;
  size = 0;
  /** Accounts right below that hold something. */
  active = 0;
  readonly below = new Map<string, Account>();
  readonly above: Account | undefined;

  constructor(above: Account | undefined) {
    this.above = above;
  }
}

/** Callers that come back soon are found again; above this those that hold nothing are forgotten. */
const ACCOUNTS_KEPT_MAX = 10_000;

const UNLIMITED: Capacity = { count: Number.POSITIVE_INFINITY, size: Number.POSITIVE_INFINITY };

export class Shares {
  readonly #capacity: Capacity;
  readonly #appMax: Capacity;
  readonly #all = new Account(undefined);
  #accountCount = 0;
  #accountsMax = ACCOUNTS_KEPT_MAX;

  /** `appMax`: what one app may hold, even alone; the request that reaches its `size` is the last one taken. */
  constructor(capacity: Capacity, appMax: Capacity = UNLIMITED) {
    this.#capacity = capacity;
    this.#appMax = appMax;
  }

  get count(): number {
    return this.#all.count;
  }

  get size(): number {
    return this.#all.size;
  }

  /** Nobody gets more than a share from here on. */
  get isFull(): boolean {
    return this.#all.count >= this.#capacity.count || this.#all.size >= this.#capacity.size;
  }

  /** The account of an address that uses an app; without an app, that of the address among all of its like. */
  accountOf(app: string | undefined, address: string): Account {
    if (this.#accountCount >= this.#accountsMax) this.#forget();
    return this.#below(this.#below(this.#all, app ?? ""), address);
  }

  /** What `account` cannot hold so much more of; undefined where it can. */
  lacks(account: Account, size: number): keyof Capacity | undefined {
    if (this.#isFullFor(account, "count", 1)) return "count";
    return this.#isFullFor(account, "size", size) ? "size" : undefined;
  }

  /** One request more, whatever `lacks` says; without an account it takes from the capacity alone. */
  hold(account: Account | undefined, size: number): void {
    const all = this.#all;
    all.count++;
    all.size += size;
    if (account === undefined) return;
    const app = account.above as Account;
    if (account.count++ === 0) app.active++;
    if (app.count++ === 0) all.active++;
    account.size += size;
    app.size += size;
  }

  /** One request less, with the account and the size that it has by now. */
  release(account: Account | undefined, size: number): void {
    const all = this.#all;
    all.count--;
    all.size -= size;
    if (account === undefined) return;
    const app = account.above as Account;
    if (--account.count === 0) app.active--;
    if (--app.count === 0) all.active--;
    account.size -= size;
    app.size -= size;
  }

  /** A request that is held becomes larger. */
  grow(account: Account, size: number): void {
    for (let at: Account | undefined = account; at !== undefined; at = at.above) at.size += size;
  }

  #isFullFor(account: Account, measure: keyof Capacity, more: number): boolean {
    const all = this.#all;
    const app = account.above as Account;
    if (app[measure] >= this.#appMax[measure]) return true;
    const capacity = this.#capacity[measure];
    if (all[measure] < capacity) return false;
    const shareOfApp = capacity / activeWith(all, app);
    if (app[measure] + more <= shareOfApp) return false;
    if (account[measure] + more <= shareOfApp / activeWith(app, account)) return false;
    // A request that is larger than the share of a caller who holds nothing else.
    return account.count > 0 || all[measure] >= 2 * capacity;
  }

  #below(above: Account, key: string): Account {
    const known = above.below.get(key);
    if (known !== undefined) return known;
    const account = new Account(above);
    above.below.set(key, account);
    this.#accountCount++;
    return account;
  }

  #forget(): void {
    let kept = 0;
    for (const [app, { below, count }] of this.#all.below) {
      for (const [address, account] of below) if (account.count === 0) below.delete(address);
      if (count === 0) this.#all.below.delete(app);
      else kept += 1 + below.size;
    }
    this.#accountCount = kept;
    this.#accountsMax = Math.max(ACCOUNTS_KEPT_MAX, 2 * kept);
  }
}

const activeWith = (above: Account, account: Account): number => above.active + (account.count === 0 ? 1 : 0);
