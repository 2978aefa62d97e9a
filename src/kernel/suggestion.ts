/** Suggests a name that a caller may have meant, for error messages. */

/**
 * The greatest number of typing mistakes that a suggestion corrects in a word: two, or one in a short word. If more typing mistakes were allowed, the
 * suggestion would be arbitrary.
 */
const MISTAKES_MAX = 2;
const SHORT_WORD_LETTERS_MAX = 5;

/** Returns the text `; did you mean name?`. The returned text is empty if no existing name is similar. */
export function suggestion(word: string, known: readonly string[]): string {
  const near = nearest(word, known);
  return near === undefined ? "" : `; did you mean ${near}?`;
}

/** Returns the existing name with the fewest typing mistakes, or undefined if no name is similar. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  let near: string | undefined;
  let fewest = Math.min(word.length <= SHORT_WORD_LETTERS_MAX ? 1 : MISTAKES_MAX, word.length - 1) + 1;
  for (const other of known) {
    // The check of the lengths also limits the work for a long word, because the existing names are short.
    if (Math.abs(other.length - word.length) >= fewest) continue;
    const mistakes = mistakesBetween(word, other);
    if (mistakes < fewest) [near, fewest] = [other, mistakes];
  }
  return near;
}

/** Returns the number of letters that must be added, removed, replaced or swapped to turn one word into the other. */
function mistakesBetween(a: string, b: string): number {
  let [before, row]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const [removed, added, replaced] = [(row[j] as number) + 1, (next[j - 1] as number) + 1, (row[j - 1] as number) + (isSame ? 0 : 1)];
      next.push(Math.min(removed, added, replaced, isSwapped ? (before[j - 2] as number) + 1 : Number.POSITIVE_INFINITY));
    }
    [before, row] = [row, next];
  }
  return row[b.length] as number;
}
