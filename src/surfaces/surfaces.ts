/** The five surfaces of the interface, as data (D-01). A surface is a host of the interface, or a path that replaces this host. */
import type { SurfaceName } from "#graph/pipeline/request";

export interface Surface {
  readonly name: SurfaceName;
  /** The path at which the surface is served if the surface has no host name of its own. */
  readonly mount: string;
  /** The name that the interface document gives to the surface's address. */
  readonly address: string;
}

export const surfaces: readonly Surface[] = [
  { name: "base", mount: "", address: "base_url" },
  { name: "app", mount: "/app", address: "app_base_url" },
  // VER-1d: the version is part of the address of the microblog surface.
  { name: "microblog", mount: "/microblog/v1.0", address: "microblog_base_url" },
  { name: "ads", mount: "/ads", address: "ads_base_url" },
  { name: "social_login", mount: "/social-login", address: "social_login_host" },
];
