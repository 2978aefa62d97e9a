/** What an operator may set, read and checked: nothing else in the program looks at flags, environment or the config file. */
import type { SurfaceName } from "#graph/pipeline/request";

export interface Config {
  /** 0 picks a free one. */
  readonly port: number;
  readonly host: string;
  readonly control_port: number;
  readonly control_host: string;
  /** A folder (SQLite), `:memory:`, or `postgres://…`. */
  readonly data: string;
  /** A world file to begin with. */
  readonly world: string | undefined;
  /** Merge `world` into data that is not empty. */
  readonly import: boolean;
  readonly seed: number | undefined;
  /** CIDR ranges and host names that callbacks may reach beside public addresses (D-64). */
  readonly allow_callback: readonly string[];
  /** undefined: what the world says of itself, else `strict`. */
  readonly profile: "strict" | "clients" | undefined;
  readonly sandbox: boolean;
  readonly workers: number;
  /** Live ingest; undefined leaves it out. */
  readonly rtmp_port: number | undefined;
  readonly json: boolean;
  readonly pretty: boolean;
  readonly log_level: LogLevel;
  readonly control_key: string | undefined;
  /** 32 bytes; undefined: the data folder's own key file (`secretKey`). */
  readonly secret_key: Uint8Array | undefined;
  /** Surfaces with a host name of their own (D-01). */
  readonly surface_hosts: Readonly<Partial<Record<SurfaceName, string>>>;
  /** CIDR ranges whose X-Forwarded-* headers are believed (D-01). */
  readonly trusted_proxies: readonly string[];
  /** D-22; 0: off. */
  readonly app_calls_per_hour: number;
  readonly page_calls_per_hour: number;
  /** Webhook calls a second and callback, of each process; 0: as many as it takes. */
  readonly deliveries_per_second: number;
  /** D-40. */
  readonly labels_per_page_max: number;
  /** Days that raw app events are kept; 0: for good. */
  readonly app_event_days: number;
  /** Which implementation of HTTP/1.1 the graph listens with. */
  readonly http: (typeof httpListeners)[number];
  /** D-21: a larger body is answered 413. */
  readonly body_bytes_max: number;
  /** Of the address and all headers. */
  readonly header_bytes_max: number;
  readonly head_ms_max: number;
  readonly body_ms_max: number;
  readonly keep_alive_ms: number;
  readonly calls_max: number;
}

export const httpListeners = ["own", "node"] as const;

export const logLevels = ["silent", "error", "warn", "info", "debug"] as const;
type LogLevel = (typeof logLevels)[number];

/** An option that is wrong: one line for a person, and the program ends with exit code 2. */
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
