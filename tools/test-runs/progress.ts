/** The lines of a run as it goes on, read from what Bun's test runner prints: the tests of a file together, when the file has ended. */

const FILE = /^(\S+\.(?:test|proof)\.ts):$/;
const RESULT = /^\((pass|fail)\) /;
const CRASHED = /^✗ (\S+) \(worker crashed/;
/** Bun repeats the titles of all that failed at its end. */
const SUMMARY = /^\d+ tests? failed:$/;
const BETWEEN = "# Unhandled error between tests";

/** The part of the project that a file belongs to. */
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

export class Progress {
  readonly #counts = new Map<string, { passed: number; failed: number }>();
  /** Of files that have not ended. */
  readonly #waiting: Set<string>;
  readonly #paths: readonly string[];
  readonly #timings: Readonly<Record<string, number>>;
  readonly #print: (line: string) => void;
  #current = "";
  #isOver = false;

  /** `timings`: how long each file took the last time, in milliseconds, by its path. `print` is called for each part that has ended. */
  constructor(paths: readonly string[], timings: Readonly<Record<string, number>>, print: (line: string) => void) {
    this.#paths = paths;
    this.#waiting = new Set(paths);
    this.#timings = timings;
    this.#print = print;
  }

  /** Of everything so far. */
  get count(): Count {
    return sumOf(this.#counts.values());
  }

  /** The seconds that are left by the last runs of the files, for `workers` at once, as words; nothing before the first run. */
  left(workers: number): string {
    let sum = 0;
    for (const path of this.#waiting) sum += this.#timings[path] ?? 0;
    const seconds = Math.round(sum / workers / 1000);
    return seconds > 0 ? `, about ${seconds} s left` : "";
  }

  add(line: string, workers: number): void {
    this.#isOver ||= SUMMARY.test(line);
    if (this.#isOver) return;
    const path = (FILE.exec(line) ?? CRASHED.exec(line))?.[1];
    if (path !== undefined && path !== this.#current) {
      this.#end(this.#current, workers);
      this.#current = path;
    }
    const result = RESULT.exec(line)?.[1];
    if (result === "pass") this.#of(this.#current).passed++;
    else if (result === "fail" || line === BETWEEN || CRASHED.test(line)) this.#of(this.#current).failed++;
  }

  /** The last file has ended. */
  end(): void {
    this.#end(this.#current, 1);
  }

  #of(path: string): { passed: number; failed: number } {
    const known = this.#counts.get(path) ?? { passed: 0, failed: 0 };
    this.#counts.set(path, known);
    return known;
  }

  #end(path: string, workers: number): void {
    if (!this.#waiting.delete(path)) return;
    const part = partOf(path);
    const files = this.#paths.filter((each) => partOf(each) === part);
    if (files.some((each) => this.#waiting.has(each))) return;
    const { passed, failed } = sumOf(files.map((each) => this.#of(each)));
    this.#print(`${part}: ${passed} passed, ${failed} failed${this.left(workers)}`);
  }
}
