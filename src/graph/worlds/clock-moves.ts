/** Moves of a world's clock that are under way. */
import type { WorkLoop } from "#jobs/work-loop";

const moves = new WeakMap<WorkLoop, object>();

/** An object of the move that is under way, if one is: what is remembered by it counts until the move ends. */
export const moveOf = (loop: WorkLoop): object | undefined => moves.get(loop);

/** As `WorkLoop.runUntil`. Moves of one world must come one after another. */
export async function moveUntil(loop: WorkLoop, targetMs: number, setClock: (worldMs: number) => Promise<void>): Promise<void> {
  moves.set(loop, {});
  try {
    await loop.runUntil(targetMs, setClock);
  } finally {
    moves.delete(loop);
  }
}
