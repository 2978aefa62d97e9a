/**
 * One run of an upload reads the stored file and writes its items to a new generation. When the run ends, the feed shows all items of the new
 * generation, or does not change (D-140). A run that is killed leaves items that no feed shows; the next run of the upload writes another generation.
 */
import type { World } from "#graph/worlds/world";
import { unixSeconds } from "#kernel/clock";
import { nodeId } from "#kernel/ids";
import { certain, type Transaction } from "#storage/database";
import { FeedFileProblem, type FeedFormat } from "../formats/rows.ts";
import { copyMissingItems, findItems, insertItems, type NewItem, overwriteItem } from "../items.store.ts";
import { BAD_ROWS_KEPT_MAX, ROWS_PER_WRITE } from "../product-feeds.limits.ts";
import { showGeneration } from "../product-feeds.store.ts";
import { type FeedEvent, feedWebhook } from "../product-feeds.webhooks.ts";
import type { Piece } from "./feed-reading.ts";
import type { RowError, UploadCounts } from "./upload.ts";
import { endUpload, type RunningUpload, saveCounts } from "./uploads.store.ts";

/** The error of a run that must stop, because another run has taken over the upload, or the upload was deleted. */
export class UploadLost extends Error {}

/**
 * The number of writes between two runs of the garbage collector. Ten writes have 20,000 rows, which leave some 30 MB of garbage. Running the garbage
 * collector lowers the peak memory for a file of a million rows from 160 to 130 MB, without making the run slower.
 */
const WRITES_PER_COLLECTION = 10;

/** A valid item with its line in the file, which the report shows. */
interface NewItemOfLine extends NewItem {
  readonly line: number;
}

/** The data of the feed during the run: the feed's catalog, and the generation that the feed shows. */
export interface ShownItems {
  readonly catalog: string;
  readonly generation: number;
  readonly item_count: number;
}

export class Ingestion {
  readonly #world: World;
  readonly #upload: RunningUpload;
  readonly #shown: ShownItems;
  readonly #isUpdate: boolean;
  readonly #counts: { -readonly [count in keyof UploadCounts]: number } = {
    ...{ rows: 0, items: 0, items_added: 0, items_replaced: 0, items_removed: 0, bad_rows: 0, duplicates: 0 },
  };
  readonly #errors: RowError[] = [];
  /**
   * The rows that repeat a retailer_id. Plaza finds repeated rows only when it writes the items, after later rows were read, so `#end` sorts all
   * problems by line.
   */
  readonly #duplicates: RowError[] = [];
  /** D-148: the number of items of the feed that are not in the file of an update, so that the feed keeps them. */
  #kept = 0;
  #writes = 0;
  #format: FeedFormat | undefined;

  constructor(world: World, upload: RunningUpload, shown: ShownItems, isUpdate: boolean) {
    this.#world = world;
    this.#upload = upload;
    this.#shown = shown;
    this.#isUpdate = isUpdate;
  }

  /** Ingests the pieces of the file. Throws `UploadLost`, errors of the store, and errors of `pieces`; the report lists all other problems. */
  async run(pieces: AsyncIterable<Piece>): Promise<void> {
    try {
      for await (const piece of pieces) await this.#take(piece);
      // D-140: a file in which each row is bad fails, because a wrong file must not remove all items of the feed.
      if (this.#counts.items === 0 && this.#counts.rows > 0) throw new FeedFileProblem("no row is a valid item");
    } catch (error) {
      if (!(error instanceof FeedFileProblem)) throw error;
      return this.fail(error.message);
    }
    if (this.#isUpdate) await this.#keepOthers();
    await this.#end("done", undefined);
  }

  async #take({ items, rows, bad_rows, errors, format, problem }: Piece): Promise<void> {
    this.#format = format;
    Object.assign(this.#counts, { rows, bad_rows });
    this.#errors.push(...errors);
    if (problem !== undefined) throw new FeedFileProblem(problem);
    if (items.length > 0) await this.#write(items.map((item) => ({ ...item, id: this.#world.ids.mint() })));
  }

  /** Ends the upload because its file cannot be used. */
  fail(problem: string): Promise<void> {
    return this.#end("failed", problem);
  }

  /** D-56, D-141: reports a repeated row. If several rows of a file have the same retailer_id, the feed gets the item of the last row. */
  #replace(line: number, retailer_id: string, earlier: number): void {
    this.#counts.duplicates++;
    if (this.#duplicates.length >= BAD_ROWS_KEPT_MAX) return;
    const what = this.#format === "xml" ? `item ${earlier} of the file` : `the row of line ${earlier}`;
    this.#duplicates.push({ severity: "warning", line, retailer_id, field: "retailer_id", reason: `replaces ${what} with the same retailer_id` });
  }

  async #write(items: readonly NewItemOfLine[]): Promise<void> {
    const { added, replaced, overwritten } = await this.#world.database.write((tx) => this.#save(tx, items));
    if (++this.#writes % WRITES_PER_COLLECTION === 0) this.#world.collectGarbage();
    this.#counts.items += added + replaced;
    this.#counts.items_added += added;
    this.#counts.items_replaced += replaced;
    for (const { line, retailer_id, earlier } of overwritten) this.#replace(line, retailer_id, earlier);
  }

  async #save(tx: Transaction, items: readonly NewItemOfLine[]) {
    const { generation } = this.#upload;
    // `saveCounts` stores the progress of the run. The run stops here if another run has taken over the upload.
    if (!(await saveCounts(tx, this.#upload, this.#counts))) throw new UploadLost();
    const shown = this.#shown.item_count === 0 ? [] : await findItems(tx, this.#shown.generation, idsOf(items));
    // D-140: an item keeps its id for as long as its retailer_id stays in the feed.
    const idsShown = new Map(shown.map(({ retailer_id, id }) => [retailer_id, id]));
    const rows = shown.length === 0 ? items : items.map((item) => ({ ...item, id: (idsShown.get(item.retailer_id) ?? item.id) as NewItem["id"] }));
    const inserted = await insertItems(tx, generation, rows);
    const overwritten = inserted === rows.length ? [] : await overwriteEarlier(tx, generation, rows);
    // An item that was overwritten was already counted with its first row.
    const replaced = countIn(idsShown, rows) - countIn(idsShown, overwritten);
    return { added: inserted - replaced, replaced, overwritten };
  }

  /** D-148: copies the items of the feed that are not in the file of an update to the new generation. */
  async #keepOthers(): Promise<void> {
    const { generation } = this.#upload;
    for (let after: string | undefined = "0"; after !== undefined; ) {
      const from: string = after;
      const { count, lastId } = await this.#world.database.write(async (tx) => {
        if (!(await saveCounts(tx, this.#upload, this.#counts))) throw new UploadLost();
        return copyMissingItems(tx, this.#shown.generation, generation, from, ROWS_PER_WRITE);
      });
      this.#kept += count;
      after = lastId;
    }
  }

  #emit(tx: Transaction, status: FeedEvent["status"]): Promise<void> {
    const catalog = nodeId(this.#shown.catalog);
    const payload: FeedEvent = { catalog_id: catalog, product_feed_id: nodeId(this.#upload.feed), status };
    return this.#world.webhooks.emit(tx, feedWebhook, { entity: catalog, payload });
  }

  async #end(status: "done" | "failed", problem: string | undefined): Promise<void> {
    const { feed, generation } = this.#upload;
    const isDone = status === "done";
    const counts = isDone
      ? { ...this.#counts, items_removed: this.#shown.item_count - this.#counts.items_replaced - this.#kept }
      : // A feed never shows an item of a failed file, so the counts of items are 0.
        { ...this.#counts, items: 0, items_added: 0, items_replaced: 0 };
    const found = [...this.#errors, ...this.#duplicates].sort((one, other) => one.line - other.line);
    const errors = JSON.stringify(found.slice(0, BAD_ROWS_KEPT_MAX));
    await this.#world.database.write(async (tx) => {
      if (!(await saveCounts(tx, this.#upload, counts))) throw new UploadLost();
      const ended_time = unixSeconds(this.#world.clock);
      await certain(
        endUpload(tx, this.#upload, { status, ended_time, format: this.#format, problem, errors }),
        "end an upload whose counts were saved",
      );
      if (isDone) await showGeneration(tx, feed, generation, this.#counts.items + this.#kept);
      await this.#emit(tx, isDone ? "Finished" : "Failed");
    });
  }
}

interface Overwritten {
  readonly line: number;
  readonly retailer_id: string;
  /** The position in the file of the earlier row, which was replaced. */
  readonly earlier: number;
}

/**
 * Overwrites items that were not inserted because an earlier row of the file has the same retailer_id. The earlier row and the later row may be in
 * the same write.
 */
async function overwriteEarlier(tx: Transaction, generation: number, rows: readonly NewItemOfLine[]): Promise<Overwritten[]> {
  const positions = new Map((await findItems(tx, generation, idsOf(rows))).map(({ retailer_id, position }) => [retailer_id, position]));
  const overwritten: Overwritten[] = [];
  const last = new Map<string, NewItemOfLine>();
  for (const row of rows) {
    const { line, retailer_id, position } = row;
    const earlier = positions.get(retailer_id);
    if (earlier === undefined || earlier === position) continue;
    positions.set(retailer_id, position);
    last.set(retailer_id, row);
    overwritten.push({ line, retailer_id, earlier });
  }
  for (const row of last.values()) await overwriteItem(tx, generation, row);
  return overwritten;
}

const idsOf = (items: readonly NewItemOfLine[]): string[] => items.map(({ retailer_id }) => retailer_id);

const countIn = (known: ReadonlyMap<string, string>, rows: readonly { readonly retailer_id: string }[]): number =>
  known.size === 0 ? 0 : rows.filter(({ retailer_id }) => known.has(retailer_id)).length;
