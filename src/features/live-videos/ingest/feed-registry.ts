/**
 * The feeds of one ingest process, as the server keeps them. The process asks here whether a key is good and reports what its encoders
 * do; the database alone knows which feeds may go on, so that any server may end one.
 *
 * **Invariant:** a feed whose ingest process is dead is lost: its window runs, and its encoder can come back (LIVE-9).
 */
import type { World } from "#graph/worlds/world";
import { nodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import { applyFeedEvent, type FeedName, feedLost, feedStarted, findFeedByKey, noAudio, noStorage } from "../lifecycle/feed.ts";
import { type FeedHealth, forgetHealth, keepHealth } from "./health.ts";
import { DEAD_AFTER_MS, deleteIngest, findDeadIngests, findFeedsOf, findIngest, SILENT_AFTER_MS, saveIngest } from "./ingests.store.ts";
import { feedRefused } from "./refusals.ts";

interface Admission {
  readonly feed: { readonly video: string; readonly session: number };
  readonly world: string;
}

interface NamedFeed {
  readonly video: string;
  readonly session: number;
}

/** 64 bits: two processes on a database never have the same. */
const ID_BYTES = 8;
/** Every so many reports the other processes are looked at. */
const LOOK_EVERY = 5;

export class FeedRegistry {
  readonly #world: World;
  readonly #id: string;
  /** Whether the database may have feeds of this process. */
  #hasFeeds = false;
  #reports = 0;
  #takenOver: Promise<void> | undefined;

  constructor(world: World) {
    this.#world = world;
    this.#id = world.randomSecret(ID_BYTES);
  }

  /**
   * Once, before the first key is checked: the feeds of processes that are dead are lost. On SQLite all others are, as the folder's lock proves.
   * An encoder that comes back sooner than that would find its own key in use.
   */
  takeOver(): Promise<void> {
    const { database, realNowMs } = this.#world;
    this.#takenOver ??= this.#loseDead(database.dialect === "sqlite" ? Number.MAX_SAFE_INTEGER : realNowMs() - DEAD_AFTER_MS).catch((error) => {
      this.#takenOver = undefined;
      throw error;
    });
    return this.#takenOver;
  }

  /** Undefined: the key opens nothing, or an encoder of another server uses it. */
  async check(key: string): Promise<Admission | undefined> {
    await this.takeOver();
    const row = await findFeedByKey(this.#world, key);
    if (row === undefined) return undefined;
    const isElsewhere = row.has_feed === 1 && row.feed_ingest !== null && row.feed_ingest !== this.#id;
    if (isElsewhere && !(await this.#isSilent(row.feed_ingest as string))) {
      await this.refused(row.id, "another encoder sends with the same stream key to another server: stop one of them, or make a new key");
      return undefined;
    }
    return this.#admission({ video: row.id, session: 0 });
  }

  async start(key: string, { width, height }: { readonly width: number; readonly height: number }): Promise<Admission | undefined> {
    const { database, realNowMs } = this.#world;
    // Before the feed: one without feeds reports nothing, and may look dead.
    await database.write((tx) => saveIngest(tx, this.#id, realNowMs()));
    this.#hasFeeds = true;
    const feed = await feedStarted(this.#world, key, { ingest: this.#id, width, height });
    return feed === undefined ? undefined : this.#admission(feed);
  }

  async end({ video, session }: NamedFeed, ending: "lost" | "no_audio" | "no_storage"): Promise<void> {
    const report = { lost: feedLost, no_audio: noAudio, no_storage: noStorage }[ending];
    forgetHealth(this.#world, video);
    await report(this.#world, { video: nodeId(video), session });
  }

  /** An encoder with a valid key was refused. `reason` is for people. */
  async refused(video: string, reason: string): Promise<void> {
    await feedRefused(this.#world, nodeId(video), reason);
  }

  /** Once a second. Returns the feeds that may not go on: their broadcast was ended, or another feed has taken their place. */
  async report(feeds: readonly FeedHealth[]): Promise<NamedFeed[]> {
    const { database, realNowMs } = this.#world;
    if (++this.#reports % LOOK_EVERY === 0) await this.loseSilent();
    // The world was replaced, and knows nothing of them.
    if (!this.#hasFeeds) return feeds.map(({ video, session }) => ({ video, session }));
    // The process is not seen dead while it has feeds; without any it says nothing more.
    if (feeds.length > 0) await database.write((tx) => saveIngest(tx, this.#id, realNowMs()));
    keepHealth(this.#world, feeds);
    const running = new Set((await findFeedsOf(database.reader, this.#id)).map(nameOf));
    return feeds.filter((feed) => !running.has(nameOf(feed))).map(({ video, session }) => ({ video, session }));
  }

  /** The feeds of other processes, and of media servers, that say nothing more. */
  async loseSilent(): Promise<void> {
    await this.#loseDead(this.#world.realNowMs() - DEAD_AFTER_MS);
  }

  /** The process has died, or ends: its feeds are lost. */
  async lost(): Promise<void> {
    if (!this.#hasFeeds) return;
    this.#hasFeeds = false;
    await this.#lose(this.#id);
  }

  /** D-115. A media server that only says once that it sends has no row, and is never silent. */
  async #isSilent(ingest: string): Promise<boolean> {
    const { database, realNowMs } = this.#world;
    const found = await findIngest(database.reader, ingest);
    return found !== undefined && found.seen_ms < realNowMs() - SILENT_AFTER_MS;
  }

  async #loseDead(seenBeforeMs: number): Promise<void> {
    for (const id of await findDeadIngests(this.#world.database.reader, this.#id, seenBeforeMs)) await this.#lose(id);
  }

  async #lose(ingest: string): Promise<void> {
    await this.#world.database.write(async (tx: Transaction) => {
      if (!(await deleteIngest(tx, ingest))) return;
      // One after the other, so that locks are taken in the order of the list.
      for (const feed of await findFeedsOf(tx, ingest)) await applyFeedEvent(tx, this.#world, feed, "feed_lost");
    });
  }

  #admission({ video, session }: NamedFeed): Admission {
    return { feed: { video, session }, world: this.#world.name };
  }
}

const nameOf = ({ video, session }: NamedFeed | FeedName): string => `${video} ${session}`;
