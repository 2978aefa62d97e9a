/**
 * Divides a capacity among callers, so that a flood of requests affects only the caller who sends it. A caller may use the whole capacity as long as
 * no other caller needs it. When the capacity is full, only callers who use less than an equal share of the capacity get more of it. Callers who use
 * an equal share or more wait until some of their own requests end.
 *
 * There are two levels of callers: apps, and the addresses that use an app. The capacity is divided among the apps that have running requests, and
 * the share of an app is divided among its addresses. All callers together use at most the capacity times 1 + ln(number of callers), because on a
 * full server the nth caller gets 1/n of the capacity. When the requests that exceed their callers' shares have ended, all callers together use at
 * most the capacity.
 */
export interface Capacity {
  /** The number of requests. */
  readonly count: number;
  /** The sum of the sizes of the requests, e.g. in bytes. */
  readonly size: number;
}

/** The amount of the capacity that a caller uses. */
export class Account {
  count = 0;
  size = 0;
  /** The number of accounts with running requests that are one level below this account. */
  active = 0;
  readonly below = new Map<string, Account>();
  readonly above: Account | undefined;

  constructor(above: Account | undefined) {
    this.above = above;
  }
}

/**
 * The number of accounts that stay in memory even if they have no running requests, because many callers come back soon. If there are more accounts
 * than this number, accounts without running requests are deleted.
 */
const ACCOUNTS_KEPT_MAX = 10_000;

const UNLIMITED: Capacity = { count: Number.POSITIVE_INFINITY, size: Number.POSITIVE_INFINITY };

export class Shares {
  readonly #capacity: Capacity;
  readonly #appMax: Capacity;
  readonly #all = new Account(undefined);
  #accountCount = 0;
  #accountsMax = ACCOUNTS_KEPT_MAX;

  /**
   * `appMax` is the amount that one app may use even if no other app uses anything. The request that reaches `appMax.size` is the last one to be
   * accepted.
   */
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

  /** Whether the capacity is full. While the capacity is full, each caller gets no more than an equal share of it. */
  get isFull(): boolean {
    return this.#all.count >= this.#capacity.count || this.#all.size >= this.#capacity.size;
  }

  /** Returns the account of an address that uses an app. All addresses of requests without an app belong to one common account. */
  accountOf(app: string | undefined, address: string): Account {
    if (this.#accountCount >= this.#accountsMax) this.#forget();
    return this.#below(this.#below(this.#all, app ?? ""), address);
  }

  /**
   * Returns whether `count` or `size` of `account` is used up for a new request of this size. The result is undefined if the new request may be
   * accepted.
   */
  lacks(account: Account, size: number): keyof Capacity | undefined {
    if (this.#isFullFor(account, "count", 1)) return "count";
    return this.#isFullFor(account, "size", size) ? "size" : undefined;
  }

  /**
   * Counts a request as running, even if `lacks` says that the capacity is used up. A request without an account counts only against the whole
   * capacity.
   */
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

  /** Counts a request as ended. `account` and `size` must be the request's current account and size. */
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

  /** Adds to the size of a running request. */
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
    // A caller without running requests may start one request even if the request is larger than the caller's share, unless the server already uses
    // twice its capacity.
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
