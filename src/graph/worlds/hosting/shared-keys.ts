/**
 * The sealing keys of all worlds. One that was replaced is kept as long as there are other worlds, or snapshots: a world that rests has not
 * sealed its secrets anew, and a snapshot never does (D-171).
 */
import type { KeyRing } from "#storage/sealing";

export const sharedKeys = (keys: KeyRing, hasMore: () => Promise<boolean>): KeyRing => ({
  get current() {
    return keys.current;
  },
  get previous() {
    return keys.previous;
  },
  isOwn: keys.isOwn,
  rotate: (untilMs) => keys.rotate(untilMs),
  async retire(nowMs) {
    if (!(await hasMore())) await keys.retire(nowMs);
  },
});
