/** The five hosts as data (D-01). */
import type { SurfaceName } from "#graph/pipeline/request";

export interface Surface {
  readonly name: SurfaceName;
  /** The path of a surface without a host name of its own. */
  readonly mount: string;
  /** The name of its address in the interface document. */
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
