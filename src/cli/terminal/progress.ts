/** A line on stderr that shows how far something long has come. Where stderr is no terminal, nothing is written. */
import { monotonicMs } from "#system";

/** Faster than an eye follows. */
const EVERY_MS = 100;
const BAR_CHARACTERS = 24;
const COLUMNS_DEFAULT = 80;
/** ECMA-48: to the first column, and everything right of it erased. */
const CLEARED = "\r\u001b[K";

export class Progress {
  readonly #label: string;
  readonly #startedMs = monotonicMs();
  #shownMs = Number.NEGATIVE_INFINITY;
  #ticking: ReturnType<typeof setInterval> | undefined;
  #isShown = false;

  constructor(label: string) {
    this.#label = label;
  }

  /** `unit` stands behind the numbers, e.g. `MB`. */
  show(done: number, total: number, unit = ""): void {
    const part = total === 0 ? 1 : Math.min(1, done / total);
    const filled = Math.floor(part * BAR_CHARACTERS);
    const bar = `${"█".repeat(filled)}${"░".repeat(BAR_CHARACTERS - filled)}`;
    this.say(`${bar} ${Math.floor(part * 100)} %  ${numberText(done)} of ${numberText(total)}${unit === "" ? "" : ` ${unit}`}`, part === 1);
  }

  /** In place of a bar, where nobody knows how much there will be. */
  say(text: string, isLast = false): void {
    if (!process.stderr.isTTY) return;
    clearInterval(this.#ticking);
    const now = monotonicMs();
    if (!isLast && now - this.#shownMs < EVERY_MS) return;
    this.#shownMs = now;
    this.#write(text);
  }

  /** Shows the text with the seconds since the beginning, until something else is shown. */
  wait(text: string): void {
    if (!process.stderr.isTTY) return;
    const tick = (): void => {
      const seconds = Math.floor((monotonicMs() - this.#startedMs) / 1000);
      this.#write(`${text}, ${seconds} s`);
    };
    clearInterval(this.#ticking);
    tick();
    // A timer because nothing else happens meanwhile.
    this.#ticking = setInterval(tick, 1_000);
  }

  /** Takes the line away. */
  end(): void {
    clearInterval(this.#ticking);
    if (this.#isShown) process.stderr.write(CLEARED);
    this.#isShown = false;
  }

  /** A longer line would go on in the next one, which nothing would erase. */
  #write(text: string): void {
    this.#isShown = true;
    process.stderr.write(CLEARED + `${this.#label} ${text}`.slice(0, (process.stderr.columns || COLUMNS_DEFAULT) - 1));
  }
}

const numberText = (value: number): string => (Number.isInteger(value) ? value.toLocaleString("en") : value.toFixed(1));
