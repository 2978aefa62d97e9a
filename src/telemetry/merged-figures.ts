/** The figures of several processes as one, for `/metrics` of the process that serves it. */
import type { OperationFigures } from "./figures.ts";

/** What `/metrics` reads. */
export interface FiguresSource {
  readonly inFlight: number;
  readonly turnedAway: number;
  operations(): ReadonlyMap<string, Readonly<OperationFigures>>;
}

/** As it is sent from one process to another. */
export interface FiguresReport {
  readonly inFlight: number;
  readonly turnedAway: number;
  readonly operations: readonly (readonly [
    string,
    Omit<OperationFigures, "byStatus"> & { readonly byStatus: readonly (readonly [number, number])[] },
  ])[];
}

export const reportOf = (figures: FiguresSource): FiguresReport => ({
  inFlight: figures.inFlight,
  turnedAway: figures.turnedAway,
  operations: [...figures.operations()].map(([operation, { byStatus, ...rest }]) => [operation, { ...rest, byStatus: [...byStatus] }]),
});

export function merged(reports: readonly FiguresReport[]): FiguresSource {
  const operations = new Map<string, OperationFigures>();
  for (const [operation, figures] of reports.flatMap((report) => report.operations)) {
    const known = operations.get(operation);
    if (known === undefined) operations.set(operation, { ...figures, durations: [...figures.durations], byStatus: new Map(figures.byStatus) });
    else add(known, figures);
  }
  return {
    inFlight: sum(reports.map(({ inFlight }) => inFlight)),
    turnedAway: sum(reports.map(({ turnedAway }) => turnedAway)),
    operations: () => operations,
  };
}

function add(into: OperationFigures, from: FiguresReport["operations"][number][1]): void {
  into.calls += from.calls;
  into.errors += from.errors;
  into.durationSumMs += from.durationSumMs;
  for (const [status, count] of from.byStatus) into.byStatus.set(status, (into.byStatus.get(status) ?? 0) + count);
  for (const [edge, count] of from.durations.entries()) into.durations[edge] = (into.durations[edge] ?? 0) + count;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
