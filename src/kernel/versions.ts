/**
 * A version of the interface, `v{major}.{minor}` (D-03), as a number: the major number plus the minor number in thousandths. For example, the version
 * `v25.0` is the number 25, and `v25.10` is 25.01.
 */
export type Version = number;

const MINORS = 1_000;

const written = new Map<Version, string>();

export function formatVersion(version: Version): string {
  let text = written.get(version);
  if (text === undefined) {
    const major = Math.trunc(version);
    text = `v${major}.${Math.round((version - major) * MINORS)}`;
    // The cache of the texts of versions is large enough for all versions of a calendar and for some mistyped ones.
    if (written.size < WRITTEN_MAX) written.set(version, text);
  }
  return text;
}

const WRITTEN_MAX = 100;

const MAJOR_DIGITS_MAX = 4;
const MINOR_DIGITS_MAX = 3;

/** Reads a version such as `v25.1`, `v25.0` or `v25` (D-03). The result is undefined for any other text, including a version with a leading zero. */
export function parseVersion(segment: string): Version | undefined {
  if (segment.charCodeAt(0) !== 118) return undefined;
  const point = segment.indexOf(".");
  const major = readNumber(segment, 1, point < 0 ? segment.length : point, MAJOR_DIGITS_MAX);
  if (major === undefined || major === 0) return undefined;
  if (point < 0) return major;
  const minor = readNumber(segment, point + 1, segment.length, MINOR_DIGITS_MAX);
  return minor === undefined ? undefined : major + minor / MINORS;
}

/**
 * Reads the decimal number between the positions `start` and `end` of the text. The result is undefined if the number has a leading zero, too many
 * digits, or other characters.
 */
function readNumber(text: string, start: number, end: number, digitsMax: number): number | undefined {
  const count = end - start;
  if (count < 1 || count > digitsMax || (count > 1 && text.charCodeAt(start) === 48)) return undefined;
  let number = 0;
  for (let i = start; i < end; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return undefined;
    number = number * 10 + digit;
  }
  return number;
}
