/**
 * Shares a capacity among callers, so that a flood affects only its caller. A single caller may use all of the capacity. When it is full, only
 * callers who use less than an equal share get more, and the others wait until some of their requests end.
 *
 * Callers have two levels: an app, and an address that uses it. The capacity is divided among the apps that use some of it, and the share of an
 * app among its addresses. Together they use at most the capacity times 1 + ln(number of callers), because the nth caller of a full server gets an
 * nth part. When each caller's requests above its share have ended, they use at most the capacity.
 */
export interface Capacity {
  /** Requests. */
  readonly count: number;
  /** A measure of large requests, e.g. bytes. */
  readonly size: number;
}

/** How much a caller uses. */
export class Account {
  count = 0;
  size = 0;
  /** How many accounts right below use something. */
  active = 0;
  readonly below = new Map<string, Account>();
  readonly above: Account | undefined;

  constructor(above: Account | undefined) {
    this.above = above;
  }
}

/** Callers that come back soon are found again. Above this number, accounts that use nothing are deleted. */
const ACCOUNTS_KEPT_MAX = 10_000;

const UNLIMITED: Capacity = { count: Number.POSITIVE_INFINITY, size: Number.POSITIVE_INFINITY };

export class Shares {
  readonly #capacity: Capacity;
  readonly #appMax: Capacity;
  readonly #all = new Account(undefined);
  #accountCount = 0;
  #accountsMax = ACCOUNTS_KEPT_MAX;

  /** `appMax`: how much one app may use, even alone. The request that reaches its `size` is the last accepted one. */
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

  /** Callers now get no more than a share. */
  get isFull(): boolean {
    return this.#all.count >= this.#capacity.count || this.#all.size >= this.#capacity.size;
  }

  /** The account of an address that uses an app. Without an app, that of the address among all addresses without one. */
  accountOf(app: string | undefined, address: string): Account {
    if (this.#accountCount >= this.#accountsMax) this.#forget();
    return this.#below(this.#below(this.#all, app ?? ""), address);
  }

  /** The part of the capacity that `account` has used up for a request of this size. Undefined if the request is accepted. */
  lacks(account: Account, size: number): keyof Capacity | undefined {
    if (this.#isFullFor(account, "count", 1)) return "count";
    return this.#isFullFor(account, "size", size) ? "size" : undefined;
  }

  /** Adds a request, whatever `lacks` returns. Without an account it counts against the capacity only. */
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

  /** Removes a request, with its current account and size. */
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

  /** Adds to the size of a request. */
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
    // The request alone is larger than its caller's share.
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
