/** The addresses of a server. `plaza start` prints the server's addresses when the server is ready, and the control API returns them later. */
import type { Config } from "#config/config";
import { addressOf } from "#config/listening";
import type { ServedBy, ServerDescription } from "#control-contract/route";
import type { SurfaceName } from "#graph/pipeline/request";
import type { Streaming } from "#graph/worlds/world";
import { version } from "#package.json";
import { surfaces } from "#surfaces/surfaces";
import { realNowMs } from "#system";
import type { SurfaceAddress } from "./destinations/destinations.ts";

/** The line that `plaza start --json` prints when the server is ready. */
export interface ReadyInfo extends Omit<ServerDescription, "sandbox" | "rtmp_url"> {
  readonly ready: true;
  readonly control_url: string;
  /** The key of the control API. The key of the control API is printed only for a sandbox, because other servers print no secrets. */
  readonly control_key?: string;
  /** The address to which encoders add a slash and a stream key. The address for encoders is null if encoders cannot connect. */
  readonly rtmp_url: string | null;
  readonly pid: number;
}

/**
 * Returns the address of each surface. A surface with its own host name has the root of this host as its address; only the microblog's address
 * contains a version (VER-1d).
 */
export const surfaceAddresses = ({ surface_hosts }: Config): SurfaceAddress[] =>
  surfaces.map(({ name, mount }) => {
    const hostname = surface_hosts[name];
    return hostname === undefined ? { name, mount } : surfaceAtHost(name, hostname);
  });

/** Returns the address of a surface with its own host name, in the given world or in the first world. */
export const surfaceAtHost = (name: SurfaceName, hostname: string, world?: string): SurfaceAddress => ({
  ...{ name, hostname, mount: name === "microblog" ? "/v1.0" : "" },
  ...(world === undefined ? {} : { world }),
});

export function readyInfo(config: Config, port: number, controlPort: number, key: string, streaming: Streaming | undefined): ReadyInfo {
  const scheme = config.tls_cert === undefined ? "http" : "https";
  const base = `${scheme}://${addressOf(config.host)}:${port}`;
  const addresses = Object.fromEntries(
    surfaceAddresses(config).map(({ name, mount, hostname }) => [
      surfaces.find((surface) => surface.name === name)?.address,
      (hostname === undefined ? base : `${scheme}://${hostname}:${port}`) + mount,
    ]),
  ) as Omit<ServerDescription, "sandbox" | "rtmp_url">;
  return {
    ready: true,
    ...addresses,
    control_url: `${scheme}://${addressOf(config.control_host)}:${controlPort}`,
    ...(config.sandbox ? { control_key: key } : {}),
    rtmp_url: streaming?.rtmpUrl ?? (streaming?.rtmpPort === undefined ? null : `rtmp://${addressOf(config.host)}:${streaming.rtmpPort}/live`),
    pid: process.pid,
  };
}

/**
 * Returns the addresses for a caller who reached the server by `hostname`. A server behind a proxy shows its public address. A server that listens on
 * all addresses shows the host name that the caller used.
 */
export function describeServer(config: Config, hostname: string, port: number, streaming: Streaming | undefined): ServerDescription {
  const { sandbox, host, public_url } = config;
  const isEverywhere = host === "0.0.0.0" || host === "::";
  const reached = isEverywhere ? hostname.replace(/^\[(.*)\]$/, "$1") : host;
  const {
    ready: _,
    pid: __,
    control_url: ___,
    control_key: ____,
    rtmp_url,
    ...addresses
  } = readyInfo({ ...config, host: reached }, port, 0, "", streaming);
  const own = addresses.base_url;
  const shown = (address: string): string =>
    public_url !== undefined && address.startsWith(own) ? public_url.replace(/\/$/, "") + address.slice(own.length) : address;
  return {
    sandbox,
    base_url: shown(own),
    app_base_url: shown(addresses.app_base_url),
    microblog_base_url: shown(addresses.microblog_base_url),
    ads_base_url: shown(addresses.ads_base_url),
    social_login_host: shown(addresses.social_login_host),
    ...(rtmp_url === null ? {} : { rtmp_url }),
  };
}

/** Returns the facts about this process that the control API shows. `stopAsked` resolves when a caller of the control API asks the server to stop. */
export function servedBy(
  { data, host, sandbox, tls_cert, workers, drain_delay_ms }: Config,
  port: number,
): { server: ServedBy; stopAsked: Promise<string> } {
  const { promise: stopAsked, resolve } = Promise.withResolvers<string>();
  const server: ServedBy = {
    ...{ version, pid: process.pid, startedMs: realNowMs(), sandbox, processes: workers, stop: () => resolve("the control API") },
    drain_delay_ms,
    base_url: `${tls_cert === undefined ? "http" : "https"}://${addressOf(host)}:${port}`,
    data: data === ":memory:" ? "memory" : data.startsWith("postgres") ? "postgres" : "sqlite",
  };
  return { server, stopAsked };
}
