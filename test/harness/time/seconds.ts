/** Moments for property tests about time. Random seconds hardly ever fall exactly on the end of a window, a deadline or a release. */
import fc, { type Arbitrary } from "fast-check";

/**
 * A Unix second within the given time span. Half of the drawn seconds are a whole number of steps from `start`, or one second before or after that;
 * `step` is in seconds.
 */
export function secondsAround(start: number, step: number, [min, max]: readonly [number, number]): Arbitrary<number> {
  const steps = fc.integer({ min: Math.ceil((min - start) / step), max: Math.floor((max - start) / step) });
  const edges = fc.tuple(steps, fc.constantFrom(-1, 0, 1)).map(([count, beside]) => Math.min(max, Math.max(min, start + count * step + beside)));
  return fc.oneof(fc.integer({ min, max }), edges);
}
