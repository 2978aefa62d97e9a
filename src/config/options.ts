/**
 * Every option, once: its flag, its environment variable (`PLAZA_` and the name), its key in `plaza.config.yaml`, default and
 * meaning. `bin/plaza start --help` and docs/reference/configuration.md say the same.
 */
import { type Config, httpListeners, logLevels } from "./config.ts";
import * as read from "./option-readers.ts";

export type OptionName = keyof Config;

export interface Option {
  readonly name: OptionName;
  /** What stands behind the flag, e.g. `N`; none for a switch. */
  readonly value?: string;
  /** Has `--no-…` too. */
  readonly isNegatable?: true;
  readonly isRepeatable?: true;
  /** Secrets are no flags: a command line can be read by everybody on the machine. */
  readonly isSecret?: true;
  readonly read: read.ReadValue;
  readonly default: Config[OptionName];
  readonly summary: string;
}

/** Far above any machine's cores. */
const WORKERS_MAX = 256;
const BODY_BYTES_LIMIT = 1024 * 1024 * 1024;
/** `bin/plaza` starts the runtime with this much; it must parse a head to refuse it in the interface's own form. */
const HEADER_BYTES_LIMIT = 65_536;
const HOUR_MS = 3_600_000;

export const options: readonly Option[] = [
  { name: "port", value: "N", read: read.port, default: 4000, summary: "port of the graph; 0 picks a free one" },
  { name: "control_port", value: "N", read: read.port, default: 4001, summary: "port of the control API; 0 picks a free one" },
  { name: "host", value: "HOST", read: read.text, default: "127.0.0.1", summary: "address that the graph listens on" },
  { name: "control_host", value: "HOST", read: read.text, default: "127.0.0.1", summary: "address that the control API listens on" },
  { name: "data", value: "WHERE", read: read.dataPlace, default: ".plaza", summary: "a folder (SQLite), :memory:, or postgres://…" },
  {
    name: "world",
    value: "FILE",
    read: read.text,
    default: undefined,
    summary: "world file to begin with (default: a demo world, when the data is empty)",
  },
  { name: "import", read: read.flag, default: false, summary: "merge --world into data that is not empty" },
  {
    name: "seed",
    value: "N",
    read: read.integer(0, Number.MAX_SAFE_INTEGER),
    default: undefined,
    summary: "mint ids and tokens the same way each time",
  },
  {
    name: "allow_callback",
    value: "CIDR|HOST",
    isRepeatable: true,
    read: read.cidrsOrHosts,
    default: [],
    summary: "callbacks allowed beside public addresses (and loopback in the sandbox); repeatable",
  },
  {
    name: "profile",
    value: "NAME",
    read: read.oneOf(["strict", "clients"]),
    default: undefined,
    summary: "strict, or clients: what unmodified client libraries expect (default: what the world says, else strict)",
  },
  {
    name: "sandbox",
    isNegatable: true,
    read: read.flag,
    default: true,
    summary: "allow loopback and http callbacks and print tokens; without it nothing secret is printed and PLAZA_CONTROL_KEY is needed",
  },
  {
    name: "workers",
    value: "N",
    read: read.integer(1, WORKERS_MAX),
    default: 1,
    summary: "processes that share the port; more than 1 needs postgres://",
  },
  { name: "rtmp_port", value: "N", read: read.portOrOff, default: 1935, summary: "live ingest; 0 picks a free one, off leaves it out" },
  { name: "json", read: read.flag, default: false, summary: "one JSON line on stdout when ready, and nothing else there" },
  { name: "pretty", read: read.flag, default: false, summary: "logs for people in place of JSON lines" },
  { name: "log_level", value: "LEVEL", read: read.oneOf(logLevels), default: "info", summary: `one of ${logLevels.join(", ")}` },
  {
    name: "surface_hosts",
    value: "SURFACE=HOST",
    isRepeatable: true,
    read: read.surfaceHosts,
    default: {},
    summary: "a host name of its own for a surface: base, app, microblog, ads or social_login; repeatable",
  },
  {
    name: "trusted_proxies",
    value: "CIDR",
    isRepeatable: true,
    read: read.cidrs,
    default: [],
    summary: "proxies whose X-Forwarded-Proto and X-Forwarded-Host are believed; repeatable",
  },
  {
    name: "app_calls_per_hour",
    value: "N",
    read: read.integer(0, Number.MAX_SAFE_INTEGER),
    default: 0,
    summary: "rate limit of an app; 0: none",
  },
  {
    name: "page_calls_per_hour",
    value: "N",
    read: read.integer(0, Number.MAX_SAFE_INTEGER),
    default: 0,
    summary: "rate limit of a page; 0: none",
  },
  {
    name: "deliveries_per_second",
    value: "N",
    read: read.integer(0, Number.MAX_SAFE_INTEGER),
    default: 0,
    summary: "webhook calls a second to one callback, from each process; 0: as many as it takes",
  },
  {
    name: "labels_per_page_max",
    value: "N",
    read: read.integer(1, Number.MAX_SAFE_INTEGER),
    // D-40.
    default: 5000,
    summary: "labels that a page can have",
  },
  {
    name: "app_event_days",
    value: "DAYS",
    read: read.integer(0, Number.MAX_SAFE_INTEGER),
    // A quarter: longer than the windows of attribution look back (LIM-10, LIM-12).
    default: 90,
    summary: "days that raw app events are kept; 0: for good. Counts and sums stay",
  },
  {
    name: "http",
    value: "LISTENER",
    read: read.oneOf(httpListeners),
    default: "own",
    summary: "what reads HTTP/1.1 of the graph: own, or node for the runtime's node:http, which takes more CPU and one process",
  },
  // These defaults have their reasons in http/limits.ts.
  {
    name: "body_bytes_max",
    value: "BYTES",
    read: read.integer(1024, BODY_BYTES_LIMIT),
    default: 1_048_576,
    summary: "largest body of a graph request",
  },
  {
    name: "header_bytes_max",
    value: "BYTES",
    read: read.integer(1024, HEADER_BYTES_LIMIT),
    default: 16_384,
    summary: "largest address and headers of a graph request",
  },
  { name: "head_ms_max", value: "MS", read: read.integer(1, HOUR_MS), default: 10_000, summary: "time for the headers of a graph request to arrive" },
  { name: "body_ms_max", value: "MS", read: read.integer(1, HOUR_MS), default: 10_000, summary: "time for the body of a graph request to arrive" },
  {
    name: "keep_alive_ms",
    value: "MS",
    read: read.integer(1, HOUR_MS),
    default: 65_000,
    summary: "how long a connection without a request stays open",
  },
  {
    name: "calls_max",
    value: "N",
    read: read.integer(1, Number.MAX_SAFE_INTEGER),
    default: 1_024,
    summary: "graph calls that run at the same time; one more is told to come back",
  },
  {
    name: "control_key",
    isSecret: true,
    read: read.controlKey,
    default: undefined,
    summary: "key of the control API; random in the sandbox when it is not given, needed without it (16 characters or more)",
  },
  {
    name: "secret_key",
    isSecret: true,
    read: read.secretKey,
    default: undefined,
    summary:
      "32 bytes, hex or base64, that stored secrets are sealed with; when it is not given, a data folder makes its own key file and a PostgreSQL sandbox uses a fixed key",
  },
];

export const flagOf = (name: OptionName): string => `--${name.replaceAll("_", "-")}`;
export const variableOf = (name: OptionName): string => `PLAZA_${name.toUpperCase()}`;
