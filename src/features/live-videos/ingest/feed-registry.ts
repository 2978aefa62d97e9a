/**
 * The feeds of one ingest process. The process asks the registry whether a key is valid, and reports what its encoders do. Only the database knows
 * which feeds may continue, so that any server can end one.
 *
 * **Invariant:** a feed whose ingest process is dead is lost: its window runs, and its encoder can reconnect (LIVE-9).
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

/** 64 bits, so that two processes on a database never have the same id. */
const ID_BYTES = 8;
/** Every fifth report also looks for dead processes. */
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
   * Loses the feeds of dead processes, once, before the first key is checked: otherwise an encoder that reconnects would find its own key in use. On
   * SQLite all other processes are dead, because only one can lock the folder.
   */
  takeOver(): Promise<void> {
    const { database, realNowMs } = this.#world;
    this.#takenOver ??= this.#loseDead(database.dialect === "sqlite" ? Number.MAX_SAFE_INTEGER : realNowMs() - DEAD_AFTER_MS).catch((error) => {
      this.#takenOver = undefined;
      throw error;
    });
    return this.#takenOver;
  }

  /** Undefined if the key is unknown, or an encoder that is connected to another server uses it. */
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
    // Before the feed starts, because a process without feeds does not report and may look dead.
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

  /** Called once a second. Returns the feeds that have to end, because their broadcast was ended or another feed replaced them. */
  async report(feeds: readonly FeedHealth[]): Promise<NamedFeed[]> {
    const { database, realNowMs } = this.#world;
    if (++this.#reports % LOOK_EVERY === 0) await this.loseSilent();
    // The world was replaced, so its database does not have these feeds.
    if (!this.#hasFeeds) return feeds.map(({ video, session }) => ({ video, session }));
    // A process is kept alive only while it has feeds.
    if (feeds.length > 0) await database.write((tx) => saveIngest(tx, this.#id, realNowMs()));
    keepHealth(this.#world, feeds);
    const running = new Set((await findFeedsOf(database.reader, this.#id)).map(nameOf));
    return feeds.filter((feed) => !running.has(nameOf(feed))).map(({ video, session }) => ({ video, session }));
  }

  /** Loses the feeds of other processes and of media servers that have stopped reporting. */
  async loseSilent(): Promise<void> {
    await this.#loseDead(this.#world.realNowMs() - DEAD_AFTER_MS);
  }

  /** Loses all feeds of this process, because it has died or ends. */
  async lost(): Promise<void> {
    if (!this.#hasFeeds) return;
    this.#hasFeeds = false;
    await this.#lose(this.#id);
  }

  /** D-115. A media server that does not report regularly has no row, and never counts as silent. */
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
      // In the order of the list, so that all processes lock videos in the same order.
      for (const feed of await findFeedsOf(tx, ingest)) await applyFeedEvent(tx, this.#world, feed, "feed_lost");
    });
  }

  #admission({ video, session }: NamedFeed): Admission {
    return { feed: { video, session }, world: this.#world.name };
  }
}

const nameOf = ({ video, session }: NamedFeed | FeedName): string => `${video} ${session}`;
