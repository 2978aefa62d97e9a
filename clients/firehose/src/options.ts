/**
 * Reads the options of the command line. Secrets come from the environment or from files, because every user of the machine can see a command line.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { TopicOptions } from "./kafka.ts";

export const HELP = `plaza-firehose copies accepted app events and delivered webhooks of a Plaza server to Kafka.

  plaza-firehose --control-url http://127.0.0.1:4001 --brokers kafka-1:9092,kafka-2:9092
  plaza-firehose read TOPIC --brokers kafka-1:9092      prints what a topic has now, one message a line

  --control-url URL        the address of Plaza's control API
  --control-key-file FILE  the file with the control key (otherwise PLAZA_CONTROL_KEY)
  --world NAME             a world to copy; repeat it for several (default: all worlds that the key may see)
  --brokers HOST:PORT,…    brokers of the cluster
  --topic NAME             the topic of app events (default: plaza.app-events)
  --webhook-topic NAME     copies delivered webhooks to this topic; the server needs --webhook-log
  --cursor-topic NAME      the topic that says how far each log is copied (default: plaza.firehose-cursors)
  --partitions N           the partitions of topics that do not exist yet (default: 6)
  --replicas N             their replicas (default: what the brokers say)
  --from-beginning LOG     copies WORLD:APP or WORLD:webhooks from its beginning; repeat it for several
  --poll-ms N              how often to look for new entries (default: 500)
  --once                   copies what is there now, and ends
  --metrics-port N         serves metrics for Prometheus on this port
  --tls                    connects to the brokers with TLS
  --tls-ca FILE            the certificates that sign those of the brokers; --tls-cert FILE and --tls-key FILE for a certificate of its own
  --sasl MECHANISM         PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512, with --sasl-username NAME and KAFKA_SASL_PASSWORD
`;

/** A mistake in the options. The message of the error names the option and says what to do. */
export class BadOption extends Error {}

const NONE: string[] = [];

const words = {
  "control-url": { type: "string" },
  "control-key-file": { type: "string" },
  world: { type: "string", multiple: true, default: NONE },
  brokers: { type: "string" },
  topic: { type: "string", default: "plaza.app-events" },
  "webhook-topic": { type: "string" },
  "cursor-topic": { type: "string", default: "plaza.firehose-cursors" },
  partitions: { type: "string", default: "6" },
  replicas: { type: "string", default: "-1" },
  "from-beginning": { type: "string", multiple: true, default: NONE },
  "poll-ms": { type: "string", default: "500" },
  once: { type: "boolean", default: false },
  "metrics-port": { type: "string" },
  tls: { type: "boolean", default: false },
  "tls-ca": { type: "string" },
  "tls-cert": { type: "string" },
  "tls-key": { type: "string" },
  sasl: { type: "string" },
  "sasl-username": { type: "string" },
  help: { type: "boolean", default: false },
} as const;

const MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] as const;

type Values = ReturnType<typeof parsed>["values"];

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: words, allowPositionals: true });
  } catch (error) {
    throw new BadOption((error as Error).message);
  }
}

export interface Options {
  /** The topic that `read` prints; undefined if the command copies logs. */
  readonly read: string | undefined;
  readonly isHelp: boolean;
  readonly topics: TopicOptions;
  readonly values: Values;
  readonly pollMs: number;
  readonly metricsPort: number | undefined;
}

/** Reads the options. Throws `BadOption` for a wrong option. */
export function readOptions(args: readonly string[], environment: Readonly<Record<string, string | undefined>>): Options {
  const { values, positionals } = parsed(args);
  const [command, topic, ...more] = positionals;
  if (command !== undefined && (command !== "read" || topic === undefined || more.length > 0))
    throw new BadOption(`the only command is "read TOPIC", and not "${positionals.join(" ")}"`);
  const names = [topic, values.topic, values["webhook-topic"], values["cursor-topic"]].filter((name) => name !== undefined);
  const bad = names.find((name) => !/^[\w.-]{1,249}$/.test(name));
  if (bad !== undefined) throw new BadOption(`"${bad}" is not the name of a topic: use letters, digits, dots, underscores and hyphens`);
  if (command === undefined && new Set(names).size !== names.length) throw new BadOption("--topic, --webhook-topic and --cursor-topic must differ");
  return {
    read: topic,
    isHelp: values.help,
    topics: {
      connection: { bootstrapBrokers: values.help ? [] : brokersOf(values.brokers), ...tlsOf(values), ...saslOf(values, environment) },
      cursorTopic: values["cursor-topic"],
      partitions: numberOf(values.partitions, "--partitions", 1, 10_000),
      replicas: values.replicas === "-1" ? -1 : numberOf(values.replicas, "--replicas", 1, 100),
    },
    values,
    pollMs: numberOf(values["poll-ms"], "--poll-ms", 10, 3_600_000),
    metricsPort: values["metrics-port"] === undefined ? undefined : numberOf(values["metrics-port"], "--metrics-port", 1, 65_535),
  };
}

export function controlKeyOf(values: Values, environment: Readonly<Record<string, string | undefined>>): string {
  const file = values["control-key-file"];
  const key = file === undefined ? environment.PLAZA_CONTROL_KEY : fileOf(file, "--control-key-file").toString().trim();
  if (key === undefined || key === "") throw new BadOption("set PLAZA_CONTROL_KEY, or give --control-key-file, for the control API");
  return key;
}

export function controlUrlOf({ "control-url": url }: Values): string {
  if (url === undefined || !/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new BadOption("--control-url must be the address of Plaza's control API, such as http://127.0.0.1:4001");
  return url;
}

function brokersOf(text: string | undefined): string[] {
  const brokers = (text ?? "").split(",").filter((broker) => broker !== "");
  if (brokers.length === 0) throw new BadOption("--brokers must name at least one broker, as HOST:PORT");
  const bad = brokers.find((broker) => !/^.+:\d{1,5}$/.test(broker));
  if (bad !== undefined) throw new BadOption(`--brokers: "${bad}" is not HOST:PORT`);
  return brokers;
}

function tlsOf(values: Values): Pick<TopicOptions["connection"], "tls"> {
  const files = { ca: values["tls-ca"], cert: values["tls-cert"], key: values["tls-key"] };
  const given = Object.entries(files).filter((entry): entry is [string, string] => entry[1] !== undefined);
  if (!values.tls) {
    if (given.length > 0) throw new BadOption(`--tls-${given[0]?.[0]} needs --tls`);
    return {};
  }
  if ((files.cert === undefined) !== (files.key === undefined)) throw new BadOption("--tls-cert and --tls-key belong together");
  return { tls: Object.fromEntries(given.map(([name, path]) => [name, fileOf(path, `--tls-${name}`)])) };
}

function saslOf(
  values: Values,
  { KAFKA_SASL_PASSWORD: password }: Readonly<Record<string, string | undefined>>,
): Pick<TopicOptions["connection"], "sasl"> {
  const { sasl, "sasl-username": username } = values;
  if (sasl === undefined) {
    if (username !== undefined) throw new BadOption(`--sasl-username needs --sasl: ${MECHANISMS.join(", ")}`);
    return {};
  }
  const mechanism = MECHANISMS.find((known) => known === sasl);
  if (mechanism === undefined) throw new BadOption(`--sasl must be one of ${MECHANISMS.join(", ")}`);
  if (username === undefined || password === undefined) throw new BadOption("--sasl needs --sasl-username, and the password in KAFKA_SASL_PASSWORD");
  return { sasl: { mechanism, username, password } };
}

function fileOf(path: string, option: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new BadOption(`${option}: ${(error as Error).message}`);
  }
}

function numberOf(text: string, option: string, min: number, max: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < min || value > max) throw new BadOption(`${option} must be a whole number from ${min} to ${max}`);
  return value;
}
