/**
 * Text that may reach a store: no U+0000 and no lone surrogate (D-21), the two things on which databases disagree.
 */
export const isStorableText = (text: string): boolean => !text.includes("\u0000") && text.isWellFormed();

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Without a byte order mark; undefined when the bytes are not UTF-8. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** A copy for keeping: what is cut out of a text keeps all of that text in memory. */
export const detached = (text: string): string => Buffer.from(text).toString();

/** Without the `character` at its end, however often it stands there. */
export function trimmedEnd(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}

/** Length in code points, as limits on names are meant. */
export function codePointCount(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0xdc00 || unit > 0xdfff) count++;
  }
  return count;
}

/**
 * The same text for texts that differ only in case: Unicode's full case folding, statuses C and F of CaseFolding.txt, except that Cherokee
 * letters become the small ones. Each character beyond ASCII is folded by itself, because Σ becomes ς at the end of a longer text. D-310: ı is
 * not i.
 */
export const foldCase = (text: string): string => text.replace(/\P{ASCII}/gu, foldCharacter).toLowerCase();

const foldCharacter = (character: string): string => (character === "ı" ? character : character.toLowerCase().toUpperCase().toLowerCase());

/** `(C1)`, `(D-51)`, `(D-60, D-61)`, `(LIVE-13, LIVE-14)`: clauses of the interface and decisions. */
const CITATION = / \((?:[A-Z]+-?\d+[a-z]?(?:-\d+[a-z]?)?(?:, | to )?)+\)/g;

/** A summary without its sources: they help to change the program, not to use it. */
export const withoutCitations = (text: string): string => text.replace(CITATION, "");
