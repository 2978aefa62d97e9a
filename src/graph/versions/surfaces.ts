/** Where each surface has its version from (VER-1, D-03, D-83). */
import type { SurfaceName } from "../pipeline/request.ts";

/** Undefined: the first segment of the path names it. */
export const fixedVersions: Readonly<Record<SurfaceName, string | undefined>> = {
  base: undefined,
  app: "1.0.0",
  microblog: "v1.0",
  ads: undefined,
  social_login: undefined,
};
