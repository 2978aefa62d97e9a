/**
 * Finds the world of each feed of the ingest process by its stream key, which begins with the name of the world, except in the first world (D-261).
 */
import { FeedRegistry, isStreamKey, worldOfKey } from "#features/live-videos";
import type { Worlds } from "#graph/worlds/hosting/worlds";
import type { World } from "#graph/worlds/world";
import type { TraceContext, Tracing } from "#kernel/tracing/tracing";
import type { Admission, FeedEnding, FeedHealth, FeedName, VideoName } from "./channel.ts";

type Ask = (registry: FeedRegistry) => Promise<{ feed: Omit<FeedName, "world"> } | undefined>;

const nameOf = ({ world, video, session }: FeedName): string => `${world} ${video} ${session}`;
const attributesOf = ({ world, video, session }: FeedName) => ({ "plaza.world": world, "plaza.video": video, "plaza.session": session });

/** The greatest number of feeds whose spans are kept in memory. An ingest process always receives fewer streams at a time. */
const BEGUN_MAX = 10_000;

export class WorldFeeds {
  readonly #worlds: Pick<Worlds, "hold" | "holdIf" | "open">;
  /** The registry of feeds of each open world. A world that replaces another world of the same name has its own registry. */
  readonly #registries = new WeakMap<World, FeedRegistry>();

  readonly #tracing: Tracing | undefined;
  /** The span in which each feed began. The end of a feed is recorded in the trace of this span. */
  readonly #begun = new Map<string, TraceContext>();

  constructor(worlds: Pick<Worlds, "hold" | "holdIf" | "open">, tracing?: Tracing) {
    this.#worlds = worlds;
    this.#tracing = tracing;
  }

  /** Marks the feeds of dead processes as lost when a world has been opened. */
  opened(world: World): Promise<void> {
    return this.#registryOf(world).takeOver();
  }

  check(key: string): Promise<Admission | undefined> {
    return this.#admit("ingest check", key, (registry) => registry.check(key));
  }

  start(key: string, size: { readonly width: number; readonly height: number }): Promise<Admission | undefined> {
    return this.#admit("ingest start", key, (registry) => registry.start(key, size));
  }

  async end(feed: FeedName, ending: FeedEnding): Promise<void> {
    const { world, video, session } = feed;
    const end = () => this.#in(world, (registry) => registry.end({ video, session }, ending));
    const parent = this.#begun.get(nameOf(feed));
    this.#begun.delete(nameOf(feed));
    const attributes = { ...attributesOf(feed), "plaza.ending": ending };
    await (this.#tracing === undefined ? end() : this.#tracing.run("ingest end", { kind: "server", attributes, parent }, end));
  }

  async refused({ world, video }: VideoName, reason: string): Promise<void> {
    await this.#in(world, (registry) => registry.refused(video, reason));
  }

  /** Passes the report of the ingest process to the worlds. Returns the feeds that must end, among them all feeds of worlds that no longer exist. */
  async report(feeds: readonly FeedHealth[]): Promise<readonly FeedName[]> {
    const names = new Set(feeds.map(({ world }) => world));
    // Worlds without feeds get an empty report, so that they clear the health of ended feeds and look for dead processes.
    for (const { name } of this.#worlds.open()) names.add(name);
    const ended = await Promise.all(
      [...names].map(async (world) => {
        const own = feeds.filter((feed) => feed.world === world);
        const refused = (await this.#in(world, (registry) => registry.report(own), own.length > 0)) ?? own;
        return refused.map(({ video, session }) => ({ world, video, session }));
      }),
    );
    return ended.flat();
  }

  /** Ends the feeds of other processes and of media servers that have stopped reporting. */
  async loseSilent(): Promise<void> {
    for (const world of this.#worlds.open()) await this.#registryOf(world).loseSilent();
  }

  async lost(): Promise<void> {
    this.#begun.clear();
    for (const world of this.#worlds.open()) await this.#registries.get(world)?.lost();
  }

  /** Asks the world's registry to admit a stream key, and records the request as a span. D-356: no span contains the stream key. */
  async #admit(name: string, key: string, ask: Ask): Promise<Admission | undefined> {
    const tracing = this.#tracing;
    if (tracing === undefined) return this.#ask(key, ask);
    return tracing.run(name, { kind: "server", parent: undefined }, async (span) => {
      const admission = await this.#ask(key, ask);
      span.set(admission === undefined ? { "plaza.is_refused": true } : attributesOf(admission.feed));
      const context = tracing.current();
      // The session 0 means that the key was only checked, so no feed has begun.
      if (admission !== undefined && admission.feed.session > 0 && context !== undefined && this.#begun.size < BEGUN_MAX)
        this.#begun.set(nameOf(admission.feed), context);
      return admission;
    });
  }

  async #ask(key: string, ask: Ask): Promise<Admission | undefined> {
    const world = worldOfKey(key);
    const held = await this.#worlds.holdIf(world, (reader) => isStreamKey(reader, key));
    const admission = held && (await ask(this.#registryOf(held.world)).finally(() => held.leave()));
    return admission && { feed: { ...admission.feed, world } };
  }

  /**
   * Calls `use` with the registry of a world; returns undefined if the world does not exist. If `isUse` is true, the call counts as use of the world
   * and opens a closed world.
   */
  async #in<T>(name: string, use: (registry: FeedRegistry) => Promise<T>, isUse = true): Promise<T | undefined> {
    if (!isUse) {
      for (const world of this.#worlds.open()) if (world.name === name) return use(this.#registryOf(world));
      return undefined;
    }
    const held = await this.#worlds.hold(name);
    if (held === undefined) return undefined;
    return use(this.#registryOf(held.world)).finally(() => held.leave());
  }

  #registryOf(world: World): FeedRegistry {
    const registry = this.#registries.get(world) ?? new FeedRegistry(world);
    this.#registries.set(world, registry);
    return registry;
  }
}
