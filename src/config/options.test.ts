/** Lists every option with its default and the bounds of its numbers, so that an unintended change of an option is noticed. */
import { expect, test } from "bun:test";
import { optionsWith } from "./options.ts";

const lines = optionsWith([]).map(({ name, read, default: value, ...flags }) => {
  const { minimum, maximum } = read.schema as { minimum?: number; maximum?: number };
  const marks = ["isNegatable", "isRepeatable", "isSecret", "isLeftOutOfFile"].filter(
    (mark) => (flags as Readonly<Record<string, unknown>>)[mark] === true,
  );
  const bounds = minimum === undefined ? [] : [`${minimum}..${maximum}`];
  return [name, JSON.stringify(value) ?? "none", ...bounds, ...marks].join(" ");
});

test("defaults and bounds of the options", () => {
  expect(lines).toEqual([
    "port 4000 0..65535",
    "control_port 4001 0..65535",
    'host "127.0.0.1"',
    'control_host "127.0.0.1"',
    'data ".plaza"',
    "databases [] isRepeatable",
    "world none",
    "import false",
    "watch false",
    "export none",
    "export_secrets false",
    "callback none",
    "config none isLeftOutOfFile",
    "seed none 0..9007199254740991",
    "allow_callback [] isRepeatable",
    "allow_origin [] isRepeatable",
    "allow_host [] isRepeatable",
    "profile none",
    "stub [] isRepeatable",
    "sandbox true isNegatable",
    "workers 1 1..256",
    "rtmp_port none",
    "rtmps_port none",
    "rtmp_url none",
    "recordings none",
    "recordings_bytes_max 0 0..9007199254740991",
    "disk_reserve_bytes 536870912 0..9007199254740991",
    "streams_max 200 1..10000",
    "stream_bits_per_second_max 20000000 1..9007199254740991",
    "json false",
    "pretty false",
    'log_level "info"',
    "quiet false",
    "otlp_endpoint none",
    "trace_ratio 1 0..1",
    "surface_hosts {} isRepeatable",
    "trusted_proxies [] isRepeatable",
    "country_header none",
    "public_url none",
    "database_connections 8 2..200",
    "statement_ms_max 30000 100..3600000",
    "lock_ms_max 5000 10..3600000",
    "app_calls_per_hour 0 0..9007199254740991",
    "page_calls_per_hour 0 0..9007199254740991",
    ...["deliveries_per_second 0 0..9007199254740991", "webhook_log false"],
    "tls_cert none",
    "tls_key none",
    "hsts_seconds 0 0..9007199254740991",
    "redirect_port none 1..65535",
    "body_bytes_max 1048576 1024..1073741824",
    "header_bytes_max 16384 1024..65536",
    "head_ms_max 10000 1..3600000",
    "body_ms_max 10000 1..3600000",
    "keep_alive_ms 65000 1..3600000",
    "health true isNegatable",
    "drain_delay_ms 0 0..3600000",
    "calls_max 1024 1..9007199254740991",
    "connections_max 8192 1..9007199254740991",
    "control_key none isSecret",
    "open_worlds_max 256 1..9007199254740991",
    "audit_days 365 1..36500",
    "audit_reads false",
    "sign_in_url none",
    "sign_in_key none isSecret",
    "secret_key none isSecret",
    "further_secret_keys [] isSecret",
  ]);
});
