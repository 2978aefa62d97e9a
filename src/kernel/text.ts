/** Returns whether a database can store a text. U+0000 and lone surrogates cannot be stored (D-21), because databases treat them differently. */
export const isStorableText = (text: string): boolean => !text.includes("\u0000") && text.isWellFormed();

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Decodes UTF-8 and removes a byte order mark. The result is undefined if the bytes are not UTF-8. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Returns a copy of the text for a cache. Without the copy, a short cached text would keep in memory the long text from which it was cut. */
export const detached = (text: string): string => Buffer.from(text).toString();

/** Removes every `character` at the end of the text. */
export function trimmedEnd(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;" };

/** Escapes a text for the content of HTML and for the values of attributes. */
export const escapedHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string);

/** Returns the number of Unicode code points in the text. The limits for the length of names count code points. */
export function codePointCount(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0xdc00 || unit > 0xdfff) count++;
  }
  return count;
}

/**
 * Returns the same text for all texts that differ only in case. `foldCase` uses Unicode's full case folding, statuses C and F of CaseFolding.txt,
 * except that Cherokee letters become lower case. Each character outside ASCII is folded separately, because JavaScript turns Σ into ς at the end of
 * a longer text. D-310: the letters ı and i stay different.
 */
export const foldCase = (text: string): string => text.replace(/\P{ASCII}/gu, foldCharacter).toLowerCase();

const foldCharacter = (character: string): string => (character === "ı" ? character : character.toLowerCase().toUpperCase().toLowerCase());

/** Matches references to clauses and decisions in brackets: `(C1)`, `(D-51)`, `(D-60, D-61)`, `(LIVE-13, LIVE-14)`. */
const CITATION = / \((?:[A-Z]+-?\d+[a-z]?(?:-\d+[a-z]?)?(?:, | to )?)+\)/g;

/** Returns a summary without references to clauses and decisions, because users of the program do not need them. */
export const withoutCitations = (text: string): string => text.replace(CITATION, "");
