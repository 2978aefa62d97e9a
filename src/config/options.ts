/**
 * All options: flag, environment variable (`PLAZA_` and the name), key in `plaza.config.yaml`, default and meaning.
 * `bin/plaza start --help` and docs/reference/configuration.md are made from this list.
 */
import type { Setting } from "#graph/contract/feature";
import { logLevels } from "./config.ts";
import type { Option, OptionName } from "./option.ts";
import * as read from "./option-readers.ts";

/** Far above any machine's cores. */
const WORKERS_MAX = 256;
/** Far above what one process can record. */
const STREAMS_LIMIT = 10_000;

const BODY_BYTES_LIMIT = 1024 * 1024 * 1024;
/** A head must be read completely so that the error has the form of the interface. */
const HEADER_BYTES_LIMIT = 65_536;
const HOUR_MS = 3_600_000;

/** Options that bound what clients of the graph may take up. `src/http/limits.ts` gives the reasons for these defaults. */
const limitOptions: readonly Option<OptionName>[] = [
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
    summary: "largest address and headers of a graph request, together",
  },
  {
    name: "head_ms_max",
    value: "MS",
    read: read.integer(1, HOUR_MS),
    default: 10_000,
    summary: "time within which the headers of a graph request must arrive",
  },
  {
    name: "body_ms_max",
    value: "MS",
    read: read.integer(1, HOUR_MS),
    default: 10_000,
    summary: "time within which the body of a graph request must arrive",
  },
  {
    name: "keep_alive_ms",
    value: "MS",
    read: read.integer(1, HOUR_MS),
    default: 65_000,
    summary: "time for which an idle connection stays open",
  },
  {
    name: "calls_max",
    value: "N",
    read: read.integer(1, Number.MAX_SAFE_INTEGER),
    default: 1_024,
    summary:
      "graph requests that run at the same time; once so many run, only callers with less than an equal share get more, and others 503 and Retry-After",
  },
  {
    name: "connections_max",
    value: "N",
    read: read.integer(1, Number.MAX_SAFE_INTEGER),
    default: 8_192,
    summary: "connections of clients of the graph, fewer where the system allows few open files; of more, the one that waited longest is closed",
  },
];

/** The server's own options. */
const own: readonly Option<OptionName>[] = [
  { name: "port", value: "N", read: read.port, default: 4000, summary: "port of the graph; 0 picks a free port" },
  { name: "control_port", value: "N", read: read.port, default: 4001, summary: "port of the control API; 0 picks a free port" },
  { name: "host", value: "HOST", read: read.text, default: "127.0.0.1", summary: "address on which the graph listens" },
  { name: "control_host", value: "HOST", read: read.text, default: "127.0.0.1", summary: "address on which the control API listens" },
  { name: "data", value: "WHERE", read: read.dataPlace, default: ".plaza", summary: "a folder (SQLite), :memory:, or postgres://…" },
  {
    name: "world",
    value: "FILE",
    read: read.text,
    default: undefined,
    summary: "world file to load into empty data (default: the demo world)",
  },
  { name: "import", read: read.flag, default: false, summary: "merge the file of --world into existing data" },
  { name: "watch", read: read.flag, default: false, summary: "when the file of --world changes, apply the changes to the first world" },
  {
    name: "export",
    value: "FILE",
    read: read.text,
    default: undefined,
    summary: "write the state of the first world to this file when the server ends, without the secrets of apps",
  },
  { name: "export_secrets", read: read.flag, default: false, summary: "write the secrets of apps to the file of --export as well" },
  {
    name: "callback",
    value: "URL",
    read: read.callback,
    default: undefined,
    summary: "send the webhooks of the sandbox's only app to this address, and subscribe the app to all fields if it has no subscriptions",
  },
  {
    name: "config",
    value: "FILE",
    isLeftOutOfFile: true,
    read: read.text,
    default: undefined,
    summary: "read options from this file (default: plaza.config.yaml, if there is one)",
  },
  {
    name: "seed",
    value: "N",
    read: read.integer(0, Number.MAX_SAFE_INTEGER),
    default: undefined,
    summary: "create the same ids and tokens each time, for scripts",
  },
  {
    name: "allow_callback",
    value: "CIDR|HOST",
    isRepeatable: true,
    read: read.cidrsOrHosts,
    default: [],
    summary: "allow webhooks to this range or host, besides public addresses (and loopback in the sandbox); repeatable",
  },
  {
    name: "allow_origin",
    value: "ORIGIN",
    isRepeatable: true,
    read: read.origins,
    default: [],
    summary: "let web pages of this origin, such as https://app.example.com, use the sandbox, besides pages on loopback; repeatable",
  },
  {
    name: "allow_host",
    value: "HOST",
    isRepeatable: true,
    read: read.hosts,
    default: [],
    summary: "serve the sandbox under this host name or address, besides loopback; repeatable",
  },
  {
    name: "profile",
    value: "NAME",
    read: read.oneOf(["strict", "clients"]),
    default: undefined,
    summary: "strict, or clients, which accepts what unmodified client libraries send (default: the world's own profile, else strict)",
  },
  {
    name: "sandbox",
    isNegatable: true,
    read: read.flag,
    default: true,
    summary: "allow callbacks on loopback and over http, and print tokens; --no-sandbox prints nothing secret and requires PLAZA_CONTROL_KEY",
  },
  {
    name: "workers",
    value: "N",
    read: read.integer(1, WORKERS_MAX),
    default: 1,
    summary: "processes that share the port; more than 1 requires postgres://",
  },
  {
    name: "rtmp_port",
    value: "N",
    read: read.portOrOff,
    default: undefined,
    summary: "port on which encoders send live video; 0 picks a free port, off disables it (default: 1935, or a free port if it is taken)",
  },
  {
    name: "rtmps_port",
    value: "N",
    read: read.portOrOff,
    default: undefined,
    summary:
      "port for live video over TLS, if there is a certificate; 0 picks a free port, off disables it (default: 1936, or a free port if it is taken)",
  },
  {
    name: "rtmp_url",
    value: "URL",
    read: read.rtmpUrl,
    default: undefined,
    summary: "address of an operator's own media server, which takes the streams in place of Plaza; stream keys are added to it",
  },
  {
    name: "recordings",
    value: "FOLDER",
    read: read.text,
    default: undefined,
    summary: "folder of the recordings of live video (default: recordings in the data folder, or in .plaza with PostgreSQL)",
  },
  {
    name: "recordings_bytes_max",
    value: "BYTES",
    read: read.integer(0, Number.MAX_SAFE_INTEGER),
    default: 0,
    summary: "disk space of all recordings together; a broadcast that would need more ends; 0 sets no limit",
  },
  {
    name: "disk_reserve_bytes",
    value: "BYTES",
    read: read.integer(0, Number.MAX_SAFE_INTEGER),
    default: 536_870_912,
    summary: "disk space that recordings leave free; a broadcast that would need it ends",
  },
  { name: "streams_max", value: "N", read: read.integer(1, STREAMS_LIMIT), default: 200, summary: "encoders that send at the same time" },
  {
    name: "stream_bits_per_second_max",
    value: "N",
    read: read.integer(1, Number.MAX_SAFE_INTEGER),
    default: 20_000_000,
    summary: "largest bit rate of a live stream; one with more is ended",
  },
  { name: "json", read: read.flag, default: false, summary: "print one line of JSON on stdout when ready, and nothing else" },
  { name: "pretty", read: read.flag, default: false, summary: "write logs as text instead of JSON lines" },
  { name: "log_level", value: "LEVEL", read: read.oneOf(logLevels), default: "info", summary: `one of ${logLevels.join(", ")}` },
  { name: "quiet", read: read.flag, default: false, summary: "log no line for each request" },
  {
    name: "surface_hosts",
    value: "SURFACE=HOST",
    isRepeatable: true,
    read: read.surfaceHosts,
    default: {},
    summary: "serve a surface under its own host name: base, app, microblog, ads or social_login; repeatable",
  },
  {
    name: "trusted_proxies",
    value: "CIDR",
    isRepeatable: true,
    read: read.cidrs,
    default: [],
    summary: "trust X-Forwarded-For, X-Forwarded-Proto and X-Forwarded-Host from these proxies; repeatable",
  },
  {
    name: "country_header",
    value: "NAME",
    read: read.headerName,
    default: undefined,
    summary: "header in which a proxy of --trusted-proxies names the viewer's country, for live videos that are not for every country",
  },
  {
    name: "public_url",
    value: "URL",
    read: read.publicUrl,
    default: undefined,
    summary: "build links, players and stream addresses from this address, whatever the Host header says (default: the address that the caller used)",
  },
  {
    name: "app_calls_per_hour",
    value: "N",
    read: read.integer(0, Number.MAX_SAFE_INTEGER),
    default: 0,
    summary: "requests per hour and app; 0 sets no limit",
  },
  {
    name: "page_calls_per_hour",
    value: "N",
    read: read.integer(0, Number.MAX_SAFE_INTEGER),
    default: 0,
    summary: "requests per hour and page; 0 sets no limit",
  },
  {
    name: "deliveries_per_second",
    value: "N",
    read: read.integer(0, Number.MAX_SAFE_INTEGER),
    default: 0,
    summary: "webhook requests per second to one callback, for each process; 0 sets no limit",
  },
  {
    name: "tls_cert",
    value: "FILE",
    read: read.text,
    default: undefined,
    summary: "serve the graph and the control API over TLS with this certificate (PEM, with its chain); read again when it is renewed",
  },
  { name: "tls_key", value: "FILE", read: read.text, default: undefined, summary: "private key of --tls-cert (PEM, without a passphrase)" },
  ...limitOptions,
  {
    name: "control_key",
    isSecret: true,
    read: read.controlKey,
    default: undefined,
    summary:
      "key of the control API; the sandbox creates a random one and keeps it in control.key in the data folder, --no-sandbox requires one of 16 characters or more",
  },
  {
    name: "secret_key",
    isSecret: true,
    read: read.secretKey,
    default: undefined,
    summary:
      "32 bytes in hex or base64 that seal stored secrets; by default a data folder gets a key file of its own, and a PostgreSQL sandbox uses a fixed key",
  },
  {
    name: "further_secret_keys",
    isSecret: true,
    read: read.secretKeys,
    default: [],
    summary: "former or future secret keys, separated by commas: they open what they have sealed while the secret key is being replaced",
  },
];

/** A feature's setting is an option like any other. */
const optionOf = ({ name, value, minimum, default: otherwise, summary }: Setting): Option => ({
  ...{ name, value, summary, default: otherwise },
  read: read.integer(minimum, Number.MAX_SAFE_INTEGER),
});

/** Every option: the server's own and those of its features. */
export const optionsWith = (settings: readonly Setting[]): readonly Option[] => [...own, ...settings.map(optionOf)];
