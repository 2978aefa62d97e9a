/** What `plaza start` says when it is ready: its addresses. */
import type { Config } from "#config/config";
import type { Streaming } from "#graph/worlds/world";
import { surfaces } from "#surfaces/surfaces";
import type { SurfaceAddress } from "./places/places.ts";

/** The ready line of `plaza start --json`. */
export interface ReadyInfo {
  readonly ready: true;
  readonly base_url: string;
  readonly app_base_url: string;
  readonly microblog_base_url: string;
  readonly ads_base_url: string;
  readonly social_login_host: string;
  readonly control_url: string;
  /** Absent without the sandbox, which prints nothing secret. */
  readonly control_key?: string;
  /** To which encoders add a slash and a stream key. null: they cannot connect. */
  readonly rtmp_url: string | null;
  readonly pid: number;
}

/** A surface with its own host name is at its root; the microblog's version is part of its address (VER-1d). */
export const surfaceAddresses = ({ surface_hosts }: Config): SurfaceAddress[] =>
  surfaces.map(({ name, mount }) => {
    const hostname = surface_hosts[name];
    return hostname === undefined ? { name, mount } : { name, mount: name === "microblog" ? "/v1.0" : "", hostname };
  });

export function readyInfo(config: Config, port: number, controlPort: number, key: string, streaming: Streaming | undefined): ReadyInfo {
  const scheme = config.tls_cert === undefined ? "http" : "https";
  const base = `${scheme}://${addressOf(config.host)}:${port}`;
  const addresses = Object.fromEntries(
    surfaceAddresses(config).map(({ name, mount, hostname }) => [
      surfaces.find((surface) => surface.name === name)?.address,
      (hostname === undefined ? base : `${scheme}://${hostname}:${port}`) + mount,
    ]),
  ) as Record<"base_url" | "app_base_url" | "microblog_base_url" | "ads_base_url" | "social_login_host", string>;
  return {
    ready: true,
    ...addresses,
    control_url: `${scheme}://${addressOf(config.control_host)}:${controlPort}`,
    ...(config.sandbox ? { control_key: key } : {}),
    rtmp_url: streaming?.rtmpUrl ?? (streaming?.rtmpPort === undefined ? null : `rtmp://${addressOf(config.host)}:${streaming.rtmpPort}/live`),
    pid: process.pid,
  };
}

/** The address of a listener for a caller on this machine. */
export function addressOf(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
