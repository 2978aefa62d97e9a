/** Interface versions are `major.0`; in code a version is its major number (D-03). */
export type Version = number;

export const formatVersion = (version: Version): string => `v${version}.0`;

/** Reads `v25.0` or `v25` (D-03); anything else, a leading zero too, is not a version. */
export function parseVersion(segment: string): Version | undefined {
  const match = /^v([1-9]\d{0,3})(?:\.0)?$/.exec(segment);
  return match ? Number(match[1]) : undefined;
}
