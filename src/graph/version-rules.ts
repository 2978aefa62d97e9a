/** Which list of versions an operation follows; the rules themselves are in `versions.ts`. */
export type VersionRule =
  /** VER-1b: 20.0 to 26.0; without one, the app's default version. */
  | "platform"
  /** VER-1c: v23.0 to v25.0, and never without. */
  | "migrationIntents"
  /** VER-1d, VER-1e: the surface's address or a header carries the version. */
  | "unversioned";
