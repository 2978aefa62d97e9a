/** The callbacks of a world: each address of each app, and whether it works. */
import type { IdMinter } from "#kernel/ids";
import type { Database, Transaction } from "#storage/database";
import { FactCache } from "#storage/facts";
import { type CallbackRow, callbackFact, findCallback, findCallbackId, insertCallback } from "./callbacks.store.ts";

/** Ids of addresses that were needed: they never change. */
const IDS_KEPT_MAX = 20_000;

export class Callbacks {
  readonly #database: Database;
  readonly #ids: IdMinter;
  readonly #rows: FactCache<CallbackRow>;
  readonly #byUrl = new Map<string, string>();

  constructor(database: Database, ids: IdMinter) {
    this.#database = database;
    this.#ids = ids;
    this.#rows = new FactCache(database, callbackFact);
  }

  /** The callback's id, which is that of its lane; made when it is new. */
  async idFor(tx: Transaction, app: string, url: string): Promise<string> {
    const key = `${app} ${url}`;
    const known = this.#byUrl.get(key);
    if (known !== undefined) return known;
    const id = (await findCallbackId(tx, app, url)) ?? (await insertCallback(tx, this.#ids.mint(), app, url));
    tx.afterCommit(() => {
      if (this.#byUrl.size >= IDS_KEPT_MAX) this.#byUrl.clear();
      this.#byUrl.set(key, id);
    });
    return id;
  }

  peek(id: string): CallbackRow | undefined {
    return this.#rows.peek(id);
  }

  /** Outside transactions. */
  async find(id: string): Promise<CallbackRow | undefined> {
    return this.#rows.peek(id) ?? (await this.#rows.get(id, () => findCallback(this.#database.reader, id)));
  }
}
