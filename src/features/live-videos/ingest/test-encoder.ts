/**
 * Starts and stops the test encoder (D-119). Plaza stores only the hash of a stream key, so the test encoder cannot use the stream key. Instead of
 * the stream key, the test encoder gets a pass: a temporary key that is valid for one video until the connection ends. The stream of the test encoder
 * is handled like the stream of any encoder.
 */
import type { TestFeed, World } from "#graph/worlds/world";
import type { NodeId } from "#kernel/ids";

interface StreamKey {
  readonly text: string;
  readonly hash: string;
}

export type Play = (key: string) => Promise<TestFeed>;

interface Pass {
  readonly video: NodeId;
  /** A promise that resolves when the stream has begun. */
  readonly began: PromiseWithResolvers<void>;
  feed: TestFeed | undefined;
}

/** The passes of each world, by the hash of the pass's key. A reset of a world ends all passes of the world. */
const worlds = new WeakMap<World, Map<string, Pass>>();

const passesOf = (world: World): Map<string, Pass> => {
  const passes = worlds.get(world) ?? new Map<string, Pass>();
  worlds.set(world, passes);
  return passes;
};

/** Returns the pass whose key has the given hash, or undefined if no pass has this hash. */
export const passOf = (world: World, keyHash: string): Pick<Pass, "video" | "began"> | undefined => worlds.get(world)?.get(keyHash);

const playing = (world: World, video: NodeId): Pass | undefined =>
  passesOf(world)
    .values()
    .find((pass) => pass.video === video);

export const playsTestClip = (world: World, video: NodeId): boolean => playing(world, video) !== undefined;

/**
 * Starts the test encoder for a video. The promise resolves when the stream has begun. The promise rejects with the reason if the stream was refused,
 * or with the error of `tooLate`.
 */
export async function playTestClip(world: World, video: NodeId, key: StreamKey, play: Play, tooLate: Promise<never>): Promise<void> {
  const pass: Pass = { video, began: Promise.withResolvers(), feed: undefined };
  const passes = passesOf(world);
  passes.set(key.hash, pass);
  const begin = async (): Promise<void> => {
    pass.feed = await play(key.text);
    // If the pass was deleted, the caller stopped waiting while the test encoder was connecting.
    if (passes.get(key.hash) !== pass) return pass.feed.stop();
    const ended = pass.feed.ended.then((reason) => {
      passes.delete(key.hash);
      throw new Error(reason);
    });
    await Promise.race([pass.began.promise, ended]);
  };
  try {
    await Promise.race([begin(), tooLate]);
  } catch (error) {
    passes.delete(key.hash);
    pass.feed?.stop();
    throw error;
  }
}

/** Stops the test encoder of a video. Returns whether the test encoder was sending to the video. */
export function stopTestClip(world: World, video: NodeId): boolean {
  const pass = playing(world, video);
  pass?.feed?.stop();
  return pass?.feed !== undefined;
}
