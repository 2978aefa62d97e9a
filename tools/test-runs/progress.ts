/** Prints the progress of a test run, read from the output of Bun's test runner. */

const FILE = /^(\S+\.(?:test|proof)\.ts):$/;
const RESULT = /^\((pass|fail)\) /;
const CRASHED = /^✗ (\S+) \(worker crashed/;
/** The heading at the end of the output, below which Bun repeats the titles of all failed tests. */
const SUMMARY = /^\d+ tests? failed:$/;
const BETWEEN = "# Unhandled error between tests";

/** Returns the part of the project to which a file belongs. */
function partOf(path: string): string {
  const [first = "", second = "", third = ""] = path.split("/");
  if (first === "src" && second === "features") return `${first}/${second}/${third}`;
  return second.includes(".") || !["src", "test", "clients"].includes(first) ? first : `${first}/${second}`;
}

export interface Count {
  readonly passed: number;
  readonly failed: number;
}

const sumOf = (counts: Iterable<Count>): Count => {
  const sum = { passed: 0, failed: 0 };
  for (const { passed, failed } of counts) {
    sum.passed += passed;
    sum.failed += failed;
  }
  return sum;
};

/** The number of progress lines in a run. */
const LINES = 10;

export class Progress {
  readonly #counts = new Map<string, { passed: number; failed: number }>();
  /** The paths of the files whose tests have not begun. */
  readonly #waiting: Set<string>;
  readonly #timings: Readonly<Record<string, number>>;
  readonly #print: (line: string) => void;
  readonly #total: number;
  #current = "";
  #printed = 0;
  #isOver = false;

  /** `timings` has the milliseconds that each file took in the last run, by path. */
  constructor(paths: readonly string[], timings: Readonly<Record<string, number>>, print: (line: string) => void) {
    this.#waiting = new Set(paths);
    this.#total = this.#waiting.size;
    this.#timings = timings;
    this.#print = print;
  }

  /**
   * Returns the remaining seconds as text, computed from the last run of each file for `workers` parallel files. Returns an empty text if there
   * was no earlier run.
   */
  left(workers: number): string {
    let sum = 0;
    for (const path of this.#waiting) sum += this.#timings[path] ?? 0;
    const seconds = Math.round(sum / workers / 1000);
    return seconds > 0 ? `, about ${seconds} s left` : "";
  }

  add(line: string, workers: number): void {
    this.#isOver ||= SUMMARY.test(line);
    if (this.#isOver) return;
    // The output of a file may come in several blocks, and each block begins with the name of the file.
    const path = (FILE.exec(line) ?? CRASHED.exec(line))?.[1];
    if (path !== undefined) {
      this.#current = path;
      if (this.#waiting.delete(path)) this.#tell(workers);
    }
    const result = RESULT.exec(line)?.[1];
    if (result === "pass") this.#of(this.#current).passed++;
    else if (result === "fail" || line === BETWEEN || CRASHED.test(line)) this.#of(this.#current).failed++;
  }

  /** Prints a line for each part of the project. */
  end(): void {
    const parts = Map.groupBy(this.#counts, ([path]) => partOf(path));
    for (const [part, counts] of [...parts].sort(([one], [other]) => (one < other ? -1 : 1))) {
      const { passed, failed } = sumOf(counts.map(([, count]) => count));
      this.#print(`  ${part}: ${passed} passed, ${failed} failed`);
    }
  }

  #tell(workers: number): void {
    const begun = this.#total - this.#waiting.size;
    if (Math.floor((begun * LINES) / this.#total) === this.#printed || begun === this.#total) return;
    this.#printed = Math.floor((begun * LINES) / this.#total);
    const { passed, failed } = sumOf(this.#counts.values());
    this.#print(`${begun} of ${this.#total} files: ${passed} passed, ${failed} failed${this.left(workers)}`);
  }

  #of(path: string): { passed: number; failed: number } {
    const known = this.#counts.get(path) ?? { passed: 0, failed: 0 };
    this.#counts.set(path, known);
    return known;
  }
}
