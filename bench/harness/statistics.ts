/** A measured value over all rounds. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function spreadOf(values: readonly number[]): Spread {
  if (values.length === 0) throw new RangeError("no round was measured");
  const sorted = [...values].sort((a, b) => a - b);
  const at = (index: number): number => sorted[index] as number;
  const middle = sorted.length >> 1;
  return { median: sorted.length % 2 === 1 ? at(middle) : (at(middle - 1) + at(middle)) / 2, min: at(0), max: at(sorted.length - 1) };
}
