/** Interface versions are `major.0`; in code a version is its major number (D-03). */
export type Version = number;

const written = new Map<Version, string>();

export function formatVersion(version: Version): string {
  let text = written.get(version);
  if (text === undefined) {
    text = `v${version}.0`;
    // Room for the versions of a calendar, and for mistyped ones.
    if (written.size < WRITTEN_MAX) written.set(version, text);
  }
  return text;
}

const WRITTEN_MAX = 100;

const DIGITS_MAX = 4;

/** Reads `v25.0` or `v25` (D-03); anything else, also a leading zero, is not a version. */
export function parseVersion(segment: string): Version | undefined {
  if (segment.charCodeAt(0) !== 118) return undefined;
  const end = segment.endsWith(".0") ? segment.length - 2 : segment.length;
  if (end < 2 || end > 1 + DIGITS_MAX || segment.charCodeAt(1) === 48) return undefined;
  let version = 0;
  for (let i = 1; i < end; i++) {
    const digit = segment.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return undefined;
    version = version * 10 + digit;
  }
  return version;
}
