/** The callbacks of a world: each URL of each app, with its health. */
import type { IdMinter } from "#kernel/ids";
import type { Awaitable } from "#kernel/turns";
import type { Database, Transaction } from "#storage/database";
import { FactCache } from "#storage/facts";
import { type CallbackRow, callbackFact, findCallback, findCallbackId, insertCallback } from "./callbacks.store.ts";

/** The greatest number of callbacks whose ids are cached. A cached id is always right, because the id of a callback never changes. */
const IDS_KEPT_MAX = 20_000;

export class Callbacks {
  readonly #database: Database;
  readonly #ids: IdMinter;
  readonly #rows: FactCache<CallbackRow>;
  /** The cached ids of callbacks: a map by app, which contains maps by URL. */
  readonly #byUrl = new Map<string, Map<string, string>>();
  #idCount = 0;

  constructor(database: Database, ids: IdMinter) {
    this.#database = database;
    this.#ids = ids;
    this.#rows = new FactCache(database, callbackFact);
  }

  /** Returns the callback's id, which is also the id of its queue. If the app has no callback with this URL yet, a new callback is stored. */
  async idFor(tx: Transaction, app: string, url: string): Promise<string> {
    const known = this.#byUrl.get(app)?.get(url);
    if (known !== undefined) return known;
    const id = (await findCallbackId(tx, app, url)) ?? (await insertCallback(tx, this.#ids.mint(), app, url));
    tx.afterCommit(() => this.#keepId(app, url, id));
    return id;
  }

  #keepId(app: string, url: string, id: string): void {
    if (this.#idCount >= IDS_KEPT_MAX) {
      this.#byUrl.clear();
      this.#idCount = 0;
    }
    const ids = this.#byUrl.get(app) ?? new Map<string, string>();
    if (!ids.has(url)) this.#idCount++;
    this.#byUrl.set(app, ids.set(url, id));
  }

  peek(id: string): CallbackRow | undefined {
    return this.#rows.peek(id);
  }

  /** Finds a callback by its id, for callers outside of transactions. */
  find(id: string): Awaitable<CallbackRow | undefined> {
    return this.#rows.get(id, () => findCallback(this.#database.reader, id));
  }
}
