/** Where a server is reached: what `plaza start` says when it is ready, what the control API says later, and the names that a sandbox serves. */
import type { Config } from "#config/config";
import { isFolder } from "#config/server-files";
import type { ServedBy } from "#control-contract/route";
import type { Streaming } from "#graph/worlds/world";
import { hostnameOf, PageGuard } from "#kernel/page-guard";
import { version } from "#package.json";
import { surfaces } from "#surfaces/surfaces";
import { realNowMs } from "#system";
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

/** `stopAsked` resolves when the control API is asked to end the server. */
export function servedBy({ data, host, sandbox, tls_cert, workers }: Config, port: number): { server: ServedBy; stopAsked: Promise<string> } {
  const { promise: stopAsked, resolve } = Promise.withResolvers<string>();
  const server: ServedBy = {
    ...{ version, pid: process.pid, startedMs: realNowMs(), sandbox, processes: workers, stop: () => resolve("the control API") },
    base_url: `${tls_cert === undefined ? "http" : "https"}://${addressOf(host)}:${port}`,
    data: data === ":memory:" ? "memory" : data.startsWith("postgres") ? "postgres" : "sqlite",
  };
  return { server, stopAsked };
}

/** The address of a listener for a caller on this machine. */
function addressOf(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}

/** D-240: only a sandbox has tokens that everybody knows. */
export function pageGuardOf({ sandbox, allow_origin, allow_host, host, control_host, public_url, surface_hosts }: Config): PageGuard | undefined {
  if (!sandbox) return undefined;
  const configured = [
    addressOf(host),
    addressOf(control_host),
    ...Object.values(surface_hosts),
    ...(public_url === undefined ? [] : [new URL(public_url).host]),
  ];
  return new PageGuard({ origins: allow_origin, hosts: [...allow_host, ...configured.flatMap((name) => hostnameOf(name) ?? [])] });
}

/** Where the control API listens, and for whom. */
export const controlPlaceOf = (config: Config) => ({
  ...{ host: config.control_host, port: config.control_port, pages: pageGuardOf(config) },
  dataFolder: isFolder(config.data) ? config.data : undefined,
});
