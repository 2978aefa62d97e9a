/** Which list of versions an operation follows; the rules themselves are in `resolve.ts`. */
export type VersionRule =
  /** VER-1b: 20.0 to 26.0; without one, the app's default version. */
  | "platform"
  /** VER-1c: v23.0 to v25.0, and never without. */
  | "migrationIntents"
  /** VER-1d, VER-1e: the surface's address or a header carries the version. */
  | "unversioned"
  /** VER-2 to VER-6: the marketing calendar, and never without (VER-4a). */
  | "marketing"
  /** D-03: G1's address carries no version, so without one it runs on the current marketing version. */
  | "marketingOrCurrent";

/** Whether a request counts as use of the marketing interface (VER-5c). */
export const isMarketing = (rule: VersionRule): boolean => rule === "marketing" || rule === "marketingOrCurrent";
