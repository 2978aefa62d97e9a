/**
 * Manages the feeds of one ingest process. The ingest process asks the registry whether a stream key is valid, and reports to the registry what its
 * encoders do. The database stores which feeds may continue, so that any server can end a feed.
 *
 * **Invariant:** if an ingest process dies, its feeds count as lost, and the encoders of these feeds have the usual time to reconnect (LIVE-9).
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

/** The size of an ingest process's id. The id of an ingest process has 64 random bits, so two processes on one database never have the same id. */
const ID_BYTES = 8;
/** With every fifth report of its ingest process, the registry also looks for dead ingest processes. */
const LOOK_EVERY = 5;

export class FeedRegistry {
  readonly #world: World;
  readonly #id: string;
  /** True if the database may have feeds of this ingest process. */
  #hasFeeds = false;
  #reports = 0;
  #takenOver: Promise<void> | undefined;

  constructor(world: World) {
    this.#world = world;
    this.#id = world.randomSecret(ID_BYTES);
  }

  /**
   * Marks the feeds of dead ingest processes as lost, once, before the first key is checked. Without this step, an encoder of a dead process could
   * not reconnect, because the encoder's own key would seem to be in use. On SQLite all other ingest processes have ended, because only one server
   * can lock the folder of the database.
   */
  takeOver(): Promise<void> {
    const { database, realNowMs } = this.#world;
    this.#takenOver ??= this.#loseDead(database.dialect === "sqlite" ? Number.MAX_SAFE_INTEGER : realNowMs() - DEAD_AFTER_MS).catch((error) => {
      this.#takenOver = undefined;
      throw error;
    });
    return this.#takenOver;
  }

  /**
   * Returns the video to which an encoder with this key may send. Returns undefined if the key is unknown, or if another encoder sends with the same
   * key to another server.
   */
  async check(key: string): Promise<Admission | undefined> {
    await this.takeOver();
    const row = await findFeedByKey(this.#world, key);
    if (row === undefined) return undefined;
    const isElsewhere = row.has_feed === 1 && row.feed_ingest !== null && row.feed_ingest !== this.#id;
    if (isElsewhere && !(await this.#isSilent(row.feed_ingest as string))) {
      await this.refused(
        row.id,
        "another encoder sends with the same stream key to another server: stop one of the encoders, or create a new stream key",
      );
      return undefined;
    }
    return this.#admission({ video: row.id, session: 0 });
  }

  async start(key: string, { width, height }: { readonly width: number; readonly height: number }): Promise<Admission | undefined> {
    const { database, realNowMs } = this.#world;
    // The row of the ingest process is stored before the feed starts. If the row were stored later, another server could think that the ingest
    // process is dead, because a process without feeds does not report.
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

  /** Records that an encoder with a valid key was refused. `reason` is a text for people that says what is wrong with the stream. */
  async refused(video: string, reason: string): Promise<void> {
    await feedRefused(this.#world, nodeId(video), reason);
  }

  /**
   * Handles the report that the ingest process makes once a second. Returns the feeds that must end, because their broadcast was ended or another
   * feed replaced them.
   */
  async report(feeds: readonly FeedHealth[]): Promise<NamedFeed[]> {
    const { database, realNowMs } = this.#world;
    if (++this.#reports % LOOK_EVERY === 0) await this.loseSilent();
    // If the world was reset or restored, its database does not have the reported feeds, so all reported feeds must end.
    if (!this.#hasFeeds) return feeds.map(({ video, session }) => ({ video, session }));
    // An ingest process needs a row in the database only while it has feeds.
    if (feeds.length > 0) await database.write((tx) => saveIngest(tx, this.#id, realNowMs()));
    keepHealth(this.#world, feeds);
    const running = new Set((await findFeedsOf(database.reader, this.#id)).map(nameOf));
    return feeds.filter((feed) => !running.has(nameOf(feed))).map(({ video, session }) => ({ video, session }));
  }

  /** Marks the feeds of other ingest processes, and of media servers, as lost if the process or server has stopped reporting. */
  async loseSilent(): Promise<void> {
    await this.#loseDead(this.#world.realNowMs() - DEAD_AFTER_MS);
  }

  /** Marks all feeds of this ingest process as lost, because the process has died or is ending. */
  async lost(): Promise<void> {
    if (!this.#hasFeeds) return;
    this.#hasFeeds = false;
    await this.#lose(this.#id);
  }

  /**
   * D-115: returns whether an ingest process or a media server has stopped reporting. A media server that does not report regularly has no row in the
   * database, so it never counts as silent.
   */
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
      // The feeds are marked as lost in the order of the list, so that all processes lock videos in the same order.
      for (const feed of await findFeedsOf(tx, ingest)) await applyFeedEvent(tx, this.#world, feed, "feed_lost");
    });
  }

  #admission({ video, session }: NamedFeed): Admission {
    return { feed: { video, session }, world: this.#world.name };
  }
}

const nameOf = ({ video, session }: NamedFeed | FeedName): string => `${video} ${session}`;
