/** How each surface says its version (VER-1, D-03, D-83). */
import type { SurfaceName } from "../pipeline/request.ts";

/** Undefined: the first path segment says it. */
export const fixedVersions: Readonly<Record<SurfaceName, string | undefined>> = {
  base: undefined,
  app: "1.0.0",
  microblog: "v1.0",
  ads: undefined,
  social_login: undefined,
};
