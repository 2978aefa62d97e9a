/** The options of an operator, read and checked. No other part of the program reads flags, environment or config file. */
import type { SurfaceName } from "#graph/pipeline/request";

export interface Config {
  /** 0 picks a free port. */
  readonly port: number;
  readonly host: string;
  readonly control_port: number;
  readonly control_host: string;
  /** A folder (SQLite), `:memory:`, or `postgres://…`. */
  readonly data: string;
  /** A world file to load. */
  readonly world: string | undefined;
  /** Merge `world` into existing data. */
  readonly import: boolean;
  /** Apply what changes in `world` while the server runs (D-195). */
  readonly watch: boolean;
  /** Where the world's state is written at the end. */
  readonly export: string | undefined;
  /** Write secrets there as well. */
  readonly export_secrets: boolean;
  /** Where a sandbox with one app sends its webhooks. */
  readonly callback: string | undefined;
  /** The config file that was read, if it was named. */
  readonly config: string | undefined;
  readonly seed: number | undefined;
  /** CIDR ranges and host names that callbacks may have besides public addresses (D-64). */
  readonly allow_callback: readonly string[];
  /** D-240: pages that a sandbox serves besides those on loopback, as `originOf` writes them. */
  readonly allow_origin: readonly string[];
  /** D-240: names under which a sandbox is served besides loopback, as `hostnameOf` writes them. */
  readonly allow_host: readonly string[];
  /** undefined: the profile of the world, else `strict`. */
  readonly profile: "strict" | "clients" | undefined;
  readonly sandbox: boolean;
  readonly workers: number;
  /** Where encoders connect; undefined: 1935, or a free port where that is taken. 0 picks a free one. */
  readonly rtmp_port: number | "off" | undefined;
  /** RTMPS, where there is a certificate; undefined: 1936, or a free port where that is taken. */
  readonly rtmps_port: number | "off" | undefined;
  /** An operator's own media server in place of the ingest; no slash at its end. */
  readonly rtmp_url: string | undefined;
  /** The folder of recordings; undefined: `recordings` in the data folder. */
  readonly recordings: string | undefined;
  /** Of all recordings; 0 sets no bound. */
  readonly recordings_bytes_max: number;
  /** What recordings leave free on their disk. */
  readonly disk_reserve_bytes: number;
  readonly streams_max: number;
  readonly stream_bits_per_second_max: number;
  readonly json: boolean;
  readonly pretty: boolean;
  readonly log_level: LogLevel;
  /** No line of the log for each request. */
  readonly quiet: boolean;
  readonly control_key: string | undefined;
  /** 32 bytes; undefined: the data folder's own key file (`secretKey`). */
  readonly secret_key: Uint8Array | undefined;
  /** Each 32 bytes: they open what they have sealed, and seal nothing (D-171). */
  readonly further_secret_keys: readonly Uint8Array[];
  /** Surfaces that have their own host name (D-01). */
  readonly surface_hosts: Readonly<Partial<Record<SurfaceName, string>>>;
  /** CIDR ranges of proxies whose X-Forwarded-* headers are trusted (D-01, D-97). */
  readonly trusted_proxies: readonly string[];
  /** In which trusted proxies name the country of a viewer; lower case. */
  readonly country_header: string | undefined;
  /** D-01: what links, players and stream addresses begin with; no slash at its end. undefined: the address that the caller used. */
  readonly public_url: string | undefined;
  /** D-22; 0 sets no limit. */
  readonly app_calls_per_hour: number;
  readonly page_calls_per_hour: number;
  /** Webhook requests per second and callback, for each process; 0 sets no limit. */
  readonly deliveries_per_second: number;
  /** PEM files; with them the graph and the control API are served over TLS. Both or none. */
  readonly tls_cert: string | undefined;
  readonly tls_key: string | undefined;
  /** D-21: a larger body is refused with 413. */
  readonly body_bytes_max: number;
  /** Of the address and all headers. */
  readonly header_bytes_max: number;
  readonly head_ms_max: number;
  readonly body_ms_max: number;
  readonly keep_alive_ms: number;
  readonly calls_max: number;
  readonly connections_max: number;
  /** Of features, by name: each is an option as the others are. */
  readonly settings: Readonly<Record<string, number>>;
}

export const logLevels = ["silent", "error", "warn", "info", "debug"] as const;
type LogLevel = (typeof logLevels)[number];

/** An invalid option. The program prints one line and exits with code 2. */
export class ConfigProblem extends Error {
  constructor(
    /** As the operator wrote it, e.g. `--port`, `PLAZA_PORT` or `port in plaza.config.yaml`. */
    readonly option: string,
    problem: string,
  ) {
    super(`${option}: ${problem}`);
    this.name = "ConfigProblem";
  }
}
