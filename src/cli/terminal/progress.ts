/** Shows the progress of long work in a line on stderr, if stderr is a terminal. */
import { monotonicMs } from "#system";

/** The interval at which the line is written again, so that it seems to move. */
const EVERY_MS = 100;
const BAR_CHARACTERS = 24;
const COLUMNS_DEFAULT = 80;
/** Moves the cursor to the first column and erases the line (ECMA-48). */
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

  /** Shows a bar. `unit` is printed after the numbers, e.g. `MB`. */
  show(done: number, total: number, unit = ""): void {
    const part = total === 0 ? 1 : Math.min(1, done / total);
    const filled = Math.floor(part * BAR_CHARACTERS);
    const bar = `${"█".repeat(filled)}${"░".repeat(BAR_CHARACTERS - filled)}`;
    this.say(`${bar} ${Math.floor(part * 100)} %  ${numberText(done)} of ${numberText(total)}${unit === "" ? "" : ` ${unit}`}`, part === 1);
  }

  /** Shows a text instead of a bar, because the total is unknown. */
  say(text: string, isLast = false): void {
    if (!process.stderr.isTTY) return;
    clearInterval(this.#ticking);
    const now = monotonicMs();
    if (!isLast && now - this.#shownMs < EVERY_MS) return;
    this.#shownMs = now;
    this.#write(text);
  }

  /** Shows the text with the seconds that have passed, until another call shows something else. */
  wait(text: string): void {
    if (!process.stderr.isTTY) return;
    const tick = (): void => {
      const seconds = Math.floor((monotonicMs() - this.#startedMs) / 1000);
      this.#write(`${text}, ${seconds} s`);
    };
    clearInterval(this.#ticking);
    tick();
    // A timer updates the line, because no other event does so while the work runs.
    this.#ticking = setInterval(tick, 1_000);
  }

  /** Erases the line. */
  end(): void {
    clearInterval(this.#ticking);
    if (this.#isShown) process.stderr.write(CLEARED);
    this.#isShown = false;
  }

  /** Writes the line, cut to the width of the terminal. A line that is longer than the terminal would wrap, and only its last row would be erased. */
  #write(text: string): void {
    this.#isShown = true;
    process.stderr.write(CLEARED + `${this.#label} ${text}`.slice(0, (process.stderr.columns || COLUMNS_DEFAULT) - 1));
  }
}

const numberText = (value: number): string => (Number.isInteger(value) ? value.toLocaleString("en") : value.toFixed(1));
