/** Saves a world as a snapshot, and later restores the snapshot (D-262). */
import type { Scene, Stage } from "../scene.ts";

const NAME = "kept";

/** A deep copy, in which two references to one object stay two references to one object. The copy leaves out functions, which check responses. */
function copyOf<Value>(value: Value, copies = new Map<unknown, unknown>()): Value {
  const known = copies.get(value);
  if (known !== undefined) return known as Value;
  const noted = <Copy>(copy: Copy): Copy => {
    copies.set(value, copy);
    return copy;
  };
  const inner = <Item>(item: Item): Item => copyOf(item, copies);
  if (value instanceof Map) {
    const copy = noted(new Map());
    for (const [key, one] of value) copy.set(key, inner(one));
    return copy as Value;
  }
  if (value instanceof Set) return noted(new Set(value)) as Value;
  if (Array.isArray(value)) {
    const copy = noted<unknown[]>([]);
    for (const one of value) copy.push(inner(one));
    return copy as Value;
  }
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const copy = noted<Record<string, unknown>>({});
  for (const [key, one] of Object.entries(value)) copy[key] = inner(one);
  return copy as Value;
}

export async function takeSnapshot({ servers }: Stage, scene: Scene): Promise<string | undefined> {
  const { world, place } = scene;
  const { status, body } = await servers.control("POST", `worlds/${place}/snapshots`, { name: NAME });
  if (status !== 201) return `the snapshot is refused: ${JSON.stringify(body)}`;
  scene.kept = copyOf(world);
  return undefined;
}

/** Restores the snapshot; a snapshot can be restored any number of times. Nodes from after the snapshot are gone, and no other node has their ids. */
export async function restoreSnapshot({ servers }: Stage, scene: Scene): Promise<string | undefined> {
  const { world, place, kept } = scene;
  if (kept === undefined) return undefined;
  const { status, body } = await servers.control("POST", `worlds/${place}/snapshots/${NAME}/restore`);
  if (status !== 200) return `the snapshot is not restored: ${JSON.stringify(body)}`;
  servers.noteFact(place);
  // After the snapshot is restored, new ids are still larger than all earlier ids, and cursors from after the snapshot keep their meaning.
  const { lastMinted, cursors } = world;
  Object.assign(world, copyOf(kept), { lastMinted, cursors });
  world.reach("restored");
  return undefined;
}
