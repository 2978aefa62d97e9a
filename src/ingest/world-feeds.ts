/** The feeds of the ingest process, each in its world: a stream key begins with the name of its world, unless that is the first one (D-261). */
import { FeedRegistry, worldOfKey } from "#features/live-videos";
import type { Worlds } from "#graph/worlds/hosting/worlds";
import type { World } from "#graph/worlds/world";
import type { Admission, FeedEnding, FeedHealth, FeedName, VideoName } from "./channel.ts";

export class WorldFeeds {
  readonly #worlds: Pick<Worlds, "hold" | "open">;
  /** Of the worlds that are open; one that was replaced has a new one. */
  readonly #registries = new WeakMap<World, FeedRegistry>();

  constructor(worlds: Pick<Worlds, "hold" | "open">) {
    this.#worlds = worlds;
  }

  /** A world is open from now on: the feeds of processes that are dead are lost. */
  opened(world: World): Promise<void> {
    return this.#registryOf(world).takeOver();
  }

  check(key: string): Promise<Admission | undefined> {
    return this.#admit(key, (registry) => registry.check(key));
  }

  start(key: string, size: { readonly width: number; readonly height: number }): Promise<Admission | undefined> {
    return this.#admit(key, (registry) => registry.start(key, size));
  }

  async end({ world, video, session }: FeedName, ending: FeedEnding): Promise<void> {
    await this.#in(world, (registry) => registry.end({ video, session }, ending));
  }

  async refused({ world, video }: VideoName, reason: string): Promise<void> {
    await this.#in(world, (registry) => registry.refused(video, reason));
  }

  /** Returns the feeds that may not go on; a world that is gone has none that may. */
  async report(feeds: readonly FeedHealth[]): Promise<readonly FeedName[]> {
    const names = new Set(feeds.map(({ world }) => world));
    // Those without feeds forget what they knew, and see what has become of other processes.
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

  /** The feeds of other processes, and of media servers, that say nothing more. */
  async loseSilent(): Promise<void> {
    for (const world of this.#worlds.open()) await this.#registryOf(world).loseSilent();
  }

  async lost(): Promise<void> {
    for (const world of this.#worlds.open()) await this.#registries.get(world)?.lost();
  }

  async #admit(key: string, ask: (registry: FeedRegistry) => Promise<{ feed: Omit<FeedName, "world"> } | undefined>): Promise<Admission | undefined> {
    const world = worldOfKey(key);
    const admission = await this.#in(world, ask);
    return admission && { feed: { ...admission.feed, world } };
  }

  /** Undefined: there is no such world. `isUse`: the world stays open for it. */
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
