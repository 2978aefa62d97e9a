/**
 * All options of the server, each with its flag, environment variable (`PLAZA_` and the name), key in `plaza.config.yaml`, default and meaning.
 * `bin/plaza start --help`, docs/reference/configuration.md and the type `Config` are made from the list of options.
 */
import type { Setting } from "#graph/contract/feature";
import type { Option } from "./option.ts";
import type { ReadValue } from "./option-readers.ts";
import * as read from "./option-readers.ts";

/** The greatest number of workers, which is more than a machine has cores. */
const WORKERS_MAX = 256;
/** The greatest number of streams, which is more than one process can record. */
const STREAMS_LIMIT = 10_000;

const BODY_BYTES_LIMIT = 1024 * 1024 * 1024;
/**
 * The greatest size of a request's headers in bytes. Plaza must read the headers completely, so that an error response has the form of the interface.
 */
const HEADER_BYTES_LIMIT = 65_536;
/**
 * The greatest value of the option that sets the number of connections to PostgreSQL. A PostgreSQL server usually allows a few hundred connections
 * for all its users together.
 */
const DATABASE_CONNECTIONS_LIMIT = 200;
const HOUR_MS = 3_600_000;

/** The greatest number of days for which the audit list can be stored: a hundred years. */
const AUDIT_DAYS_MAX = 36_500;

const logLevels = ["silent", "error", "warn", "info", "debug"] as const;

/** An option with a value. The parameter `value` is the name that the help shows for the value. */
const one = <T>(value: string, reads: ReadValue<T>, otherwise: NoInfer<T>) => ({ value, read: reads, default: otherwise });
const maybe = <T>(value: string, reads: ReadValue<T>) => ({ value, read: reads, default: undefined });
const several = <T>(value: string, reads: ReadValue<readonly T[]>) => ({ ...one(value, reads, []), isRepeatable: true as const });
/** An option without a value, which is off by default. */
const off = { read: read.flag, default: false };

/** The server's own options, by name. */
export const own = {
  port: { ...one("N", read.port, 4000), summary: "port of the graph; 0 picks a free port" },
  control_port: { ...one("N", read.port, 4001), summary: "port of the control API; 0 picks a free port" },
  host: { ...one("HOST", read.text, "127.0.0.1"), summary: "address on which the graph listens" },
  control_host: { ...one("HOST", read.text, "127.0.0.1"), summary: "address on which the control API listens" },
  data: { ...one("WHERE", read.dataPlace, ".plaza"), holdsSecret: true, summary: "a folder (SQLite), :memory:, or postgres://…" },
  // D-420.
  databases: {
    ...several("NAME=URL", read.databases),
    holdsSecret: true,
    summary: "several databases instead of --data, each as name=postgres://…; the first has the list of worlds; repeatable",
  },
  world: { ...maybe("FILE", read.text), summary: "world file to load into empty data (default: the demo world)" },
  import: { ...off, summary: "merge the file of --world into existing data" },
  // D-195.
  watch: { ...off, summary: "when the file of --world changes, apply the changes to the first world" },
  export: {
    ...maybe("FILE", read.text),
    summary: "write the state of the first world to this file when the server ends, without the secrets of apps",
  },
  export_secrets: { ...off, summary: "write the secrets of apps to the file of --export as well" },
  callback: {
    ...maybe("URL", read.callback),
    summary: "send the webhooks of the sandbox's only app to this address, and subscribe the app to all fields if it has no subscriptions",
  },
  config: {
    ...maybe("FILE", read.text),
    isLeftOutOfFile: true,
    summary: "read options from this file (default: plaza.config.yaml, if there is one)",
  },
  seed: { ...maybe("N", read.integer(0)), summary: "create the same ids and tokens each time, for scripts" },
  // D-64.
  allow_callback: {
    ...several("CIDR|HOST", read.cidrsOrHosts),
    summary: "allow webhooks to this range or host, besides public addresses (and loopback in the sandbox); repeatable",
  },
  // D-240: the origins are stored in the form in which `originOf` writes them.
  allow_origin: {
    ...several("ORIGIN", read.origins),
    summary: "let web pages of this origin, such as https://app.example.com, use the sandbox, besides pages on loopback; repeatable",
  },
  // D-240: the hosts are stored in the form in which `hostnameOf` writes them.
  allow_host: { ...several("HOST", read.hosts), summary: "serve the sandbox under this host name or address, besides loopback; repeatable" },
  profile: {
    ...maybe("NAME", read.oneOf(["strict", "clients"])),
    summary: "strict, or clients, which accepts what unmodified client libraries send (default: the world's own profile, else strict)",
  },
  // D-395.
  stub: {
    ...several("EDGE=FILE", read.stubs),
    summary:
      "answer requests for an edge that Plaza does not serve from a JSON file: page/insights=insights.json, POST:page/feed=made.json; repeatable",
  },
  sandbox: {
    isNegatable: true,
    read: read.flag,
    default: true,
    summary: "allow callbacks on loopback and over http, and print tokens; --no-sandbox prints nothing secret and requires PLAZA_CONTROL_KEY",
  },
  workers: { ...one("N", read.integer(1, WORKERS_MAX), 1), summary: "number of processes that share the port; more than 1 requires postgres://" },
  rtmp_port: {
    ...maybe("N", read.portOrOff),
    summary: "port on which encoders send live video; 0 picks a free port, off disables live video (default: 1935, or a free port if 1935 is in use)",
  },
  rtmps_port: {
    ...maybe("N", read.portOrOff),
    summary:
      "port for live video over TLS, if there is a certificate; 0 picks a free port, off disables the port (default: 1936, or a free port if 1936 is in use)",
  },
  // The URL is stored without a slash at its end.
  rtmp_url: {
    ...maybe("URL", read.rtmpUrl),
    summary: "address of an operator's own media server, which receives the streams instead of Plaza; stream keys are appended to it",
  },
  recordings: {
    ...maybe("FOLDER|s3://…", read.recordingsPlace),
    holdsSecret: true,
    summary:
      "folder of the recordings of live video, or a bucket of an object store (default: recordings in the data folder, or in .plaza with PostgreSQL)",
  },
  recordings_bytes_max: {
    ...one("BYTES", read.integer(0), 0),
    summary: "disk space of all recordings together; a broadcast that would need more space ends; 0 sets no limit",
  },
  disk_reserve_bytes: {
    ...one("BYTES", read.integer(0), 536_870_912),
    summary: "disk space that recordings leave free; a broadcast that would need this space ends",
  },
  streams_max: { ...one("N", read.integer(1, STREAMS_LIMIT), 200), summary: "number of encoders that may send at the same time" },
  stream_bits_per_second_max: { ...one("N", read.integer(1), 20_000_000), summary: "largest bit rate of a live stream; a stream above it is ended" },
  json: { ...off, summary: "print one line of JSON on stdout when ready, and nothing else" },
  pretty: { ...off, summary: "write logs as text instead of JSON lines; on a terminal, text is the default" },
  log_level: { ...one("LEVEL", read.oneOf(logLevels), "info"), summary: `one of ${logLevels.join(", ")}` },
  quiet: { ...off, summary: "do not log each request" },
  // D-356.
  otlp_endpoint: {
    ...maybe("URL", read.collectorUrl),
    summary:
      "send traces to this OpenTelemetry collector (OTLP over HTTP), such as http://localhost:4318; without this option, Plaza sends no traces",
  },
  trace_ratio: {
    ...one("N", read.ratio, 1),
    summary: "fraction of the requests and jobs that are traced, from 0 to 1; a caller who sends traceparent decides for that request",
  },
  // D-01.
  surface_hosts: {
    ...one("SURFACE=HOST", read.surfaceHosts, {}),
    isRepeatable: true,
    summary: "serve a surface under its own host name: base, app, microblog, ads or social_login; repeatable",
  },
  // D-01, D-97.
  trusted_proxies: {
    ...several("CIDR", read.cidrs),
    summary: "trust X-Forwarded-For, X-Forwarded-Proto and X-Forwarded-Host from these proxies; repeatable",
  },
  // The option's value, the name of a header, is stored in lower case.
  country_header: {
    ...maybe("NAME", read.headerName),
    summary: "header in which a proxy of --trusted-proxies names the viewer's country, for live videos that are limited to some countries",
  },
  // D-01: the URL is stored without a slash at its end.
  public_url: {
    ...maybe("URL", read.publicUrl),
    summary: "build links, players and stream addresses from this address, whatever the Host header says (default: the address that the caller used)",
  },
  database_connections: {
    ...one("N", read.integer(2, DATABASE_CONNECTIONS_LIMIT), 8),
    summary:
      "connections of a process to PostgreSQL for requests to the first world, and the same number for all other worlds; twice as many while a table is locked",
  },
  statement_ms_max: {
    ...one("MS", read.integer(100, HOUR_MS), 30_000),
    summary: "time within which PostgreSQL must finish a statement of a request",
  },
  lock_ms_max: {
    ...one("MS", read.integer(10, HOUR_MS), 5_000),
    summary: "time for which a statement waits for a lock of another session of PostgreSQL; the request then gets 503",
  },
  // D-22.
  app_calls_per_hour: { ...one("N", read.integer(0), 0), summary: "requests per hour and app; 0 sets no limit" },
  page_calls_per_hour: { ...one("N", read.integer(0), 0), summary: "requests per hour and page; 0 sets no limit" },
  deliveries_per_second: {
    ...one("N", read.integer(0), 0),
    summary: "webhook requests per second to one callback, for each process; 0 sets no limit",
  },
  // D-424.
  webhook_log: { ...off, summary: "log delivered webhooks in their order, for programs that copy them, such as plaza-firehose" },
  tls_cert: {
    ...maybe("FILE", read.text),
    summary: "serve the graph and the control API over TLS with this certificate (PEM, with its chain); Plaza reads the file again when it changes",
  },
  tls_key: { ...maybe("FILE", read.text), summary: "private key of --tls-cert (PEM, without a passphrase)" },
  // D-353.
  hsts_seconds: {
    ...one("SECONDS", read.integer(0), 0),
    summary: "time for which browsers must use this host over TLS (the header Strict-Transport-Security); 0 sends no such header",
  },
  redirect_port: {
    ...maybe("N", read.integer(1, read.PORT_MAX)),
    summary: "port without TLS that redirects each request to the TLS port of the graph",
  },
  // D-21: the limits of requests, whose reasons are in `src/http/limits.ts`.
  body_bytes_max: { ...one("BYTES", read.integer(1024, BODY_BYTES_LIMIT), 1_048_576), summary: "largest body of a graph request" },
  header_bytes_max: {
    ...one("BYTES", read.integer(1024, HEADER_BYTES_LIMIT), 16_384),
    summary: "largest address and headers of a graph request, together",
  },
  head_ms_max: { ...one("MS", read.integer(1, HOUR_MS), 10_000), summary: "time within which the headers of a graph request must arrive" },
  body_ms_max: { ...one("MS", read.integer(1, HOUR_MS), 10_000), summary: "time within which the body of a graph request must arrive" },
  keep_alive_ms: { ...one("MS", read.integer(1, HOUR_MS), 65_000), summary: "time for which an idle connection stays open" },
  // D-349.
  health: {
    isNegatable: true,
    read: read.flag,
    default: true,
    summary: "serve /healthz and /readyz on the port of the graph as well, for load balancers",
  },
  // D-350.
  drain_delay_ms: {
    ...one("MS", read.integer(0, HOUR_MS), 0),
    summary: "time for which a server that is told to end still serves requests, while /readyz is 503 and load balancers choose other servers",
  },
  calls_max: {
    ...one("N", read.integer(1), 1_024),
    summary: "most graph requests that run at the same time; at this limit, a caller who already has an equal share of them gets 503 and Retry-After",
  },
  connections_max: {
    ...one("N", read.integer(1), 8_192),
    summary:
      "most client connections to the graph; fewer if the system allows few open files. Above the limit, the connection that has waited longest is closed",
  },
  control_key: {
    isSecret: true,
    read: read.controlKey,
    default: undefined,
    summary:
      "key of the control API; the sandbox creates a random one and stores it in control.key in the data folder, --no-sandbox requires one of 16 characters or more",
  },
  // D-332.
  open_worlds_max: {
    ...one("N", read.integer(1), 256),
    summary:
      "most worlds that a process has open at a time, besides the first; fewer if the system allows few open files. Above the limit, the world whose last use is longest ago is closed until its next use",
  },
  // D-331.
  audit_days: { ...one("N", read.integer(1, AUDIT_DAYS_MAX), 365), summary: "days for which the audit list of control keys is stored" },
  audit_reads: { ...off, summary: "add all requests that only read to the audit list; by default, the list has changes and reads of secrets" },
  // D-390.
  sign_in_url: {
    ...maybe("URL", read.signInUrl),
    summary:
      "address of your page that signs people in for the login dialog of apps (default in a sandbox: a list of people to choose from); requires PLAZA_SIGN_IN_KEY",
  },
  sign_in_key: {
    isSecret: true,
    read: read.controlKey,
    default: undefined,
    summary: "key of 32 characters or more with which the page of --sign-in-url signs its answers",
  },
  secret_key: {
    isSecret: true,
    read: read.secretKey,
    default: undefined,
    summary:
      "32 bytes in hex or base64 that seal stored secrets; by default a data folder gets a key file of its own, and a PostgreSQL sandbox uses a fixed key",
  },
  // D-171: further secret keys decrypt stored secrets, but encrypt none.
  further_secret_keys: {
    isSecret: true,
    read: read.secretKeys,
    default: [],
    summary: "former or future secret keys, separated by commas; Plaza opens values that these keys sealed while the secret key is being replaced",
  },
} satisfies Readonly<Record<string, Omit<Option, "name">>>;

/** A setting of a feature as an option. */
const optionOf = ({ name, value, minimum, default: otherwise, summary }: Setting): Option => ({
  ...{ name, value, summary, default: otherwise },
  read: read.integer(minimum),
});

/** All options: the server's own and those of its features. */
export const optionsWith = (settings: readonly Setting[]): readonly Option[] => [
  ...Object.entries(own).map(([name, option]) => ({ name, ...option })),
  ...settings.map(optionOf),
];
