/** The five hosts as data (D-01). */
import type { SurfaceName } from "#graph/pipeline/request";

export interface Surface {
  readonly name: SurfaceName;
  /** Where it is mounted when it has no host of its own. */
  readonly mount: string;
  /** How the interface document calls its address. */
  readonly address: string;
}

export const surfaces: readonly Surface[] = [
  { name: "base", mount: "", address: "base_url" },
  { name: "app", mount: "/app", address: "app_base_url" },
  // VER-1d: the version is part of the host's address.
  { name: "microblog", mount: "/microblog/v1.0", address: "microblog_base_url" },
  { name: "ads", mount: "/ads", address: "ads_base_url" },
  { name: "social_login", mount: "/social-login", address: "social_login_host" },
];
