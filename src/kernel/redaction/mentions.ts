/** Whether a text names one of some ids, as a word of its own: `9001` stands in `{"id":"9001"}`, and not in `19001`. */

const isWordUnit = (unit: number): boolean => (unit >= 48 && unit <= 57) || (unit >= 65 && unit <= 90) || (unit >= 97 && unit <= 122);

function mentions(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    const after = at + word.length;
    if ((at === 0 || !isWordUnit(text.charCodeAt(at - 1))) && (after === text.length || !isWordUnit(text.charCodeAt(after)))) return true;
  }
  return false;
}

/** JSON may write what is outside ASCII as `\uXXXX`. */
const escaped = (word: string): string =>
  JSON.stringify(word)
    .slice(1, -1)
    .replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Finds the ids in texts, JSON among them. */
export function mentionsOf(ids: readonly string[]): (text: string) => boolean {
  const words = [...new Set(ids.flatMap((id) => [id, JSON.stringify(id).slice(1, -1), escaped(id)]))];
  return (text) => words.some((word) => mentions(text, word));
}
