/** Writes the program's own log, as lines of JSON on stderr, and its metrics for Prometheus. */
import { createServer, type Server } from "node:http";

type Facts = Readonly<Record<string, string | number | boolean>>;
type Level = "info" | "warn" | "error";

export function say(level: Level, message: string, facts: Facts = {}): void {
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), level, message, ...facts })}\n`);
}

export const textOf = (error: unknown): string => {
  const { message, errors, cause } = error as { message?: string; errors?: readonly unknown[]; cause?: unknown };
  const parts = [message ?? String(error), ...(errors ?? []).map(textOf), ...(cause === undefined ? [] : [textOf(cause)])];
  return [...new Set(parts.filter((part) => part !== ""))].join(": ");
};

/** The progress of the copy of one log. */
interface Progress {
  readonly world: string;
  /** The app of a log of app events, or `webhooks`. */
  readonly log: string;
  /** The number of requests or webhooks that are in the log and not yet in the topic. */
  behind: number;
  /** The reason why the copy of the log has stopped until somebody acts; undefined while the log is copied. */
  stopped?: string | undefined;
}

export class Report {
  messages = 0;
  gaps = 0;
  failures = 0;
  readonly #logs = new Map<string, Progress>();
  #said = 0;

  progress(world: string, log: string): Progress {
    const key = `${world}:${log}`;
    const known = this.#logs.get(key) ?? { world, log, behind: 0 };
    this.#logs.set(key, known);
    return known;
  }

  get behind(): number {
    return this.#logs.values().reduce((sum, { behind }) => sum + behind, 0);
  }

  get stopped(): number {
    return this.#logs.values().reduce((sum, { stopped }) => sum + (stopped === undefined ? 0 : 1), 0);
  }

  /** Logs the number of entries that were copied since the last call, unless the number is 0. */
  say(): void {
    const { messages, behind, stopped } = this;
    if (messages === this.#said && behind === 0 && stopped === 0) return;
    say(stopped === 0 ? "info" : "error", "copied", { messages: messages - this.#said, behind, ...(stopped === 0 ? {} : { stopped_logs: stopped }) });
    this.#said = messages;
  }

  /** Returns the metrics in the text format of Prometheus. */
  text(): string {
    const lines = [
      ...metric("messages_total", "counter", "messages that the brokers have acknowledged", [["", this.messages]]),
      ...metric("gaps_total", "counter", "spans of requests or webhooks that were deleted before they were copied", [["", this.gaps]]),
      ...metric("failures_total", "counter", "requests to Plaza or to the brokers that failed and are tried again", [["", this.failures]]),
      ...metric(
        "behind",
        "gauge",
        "requests, or webhooks, that are not copied yet",
        [...this.#logs.values()].map(({ world, log, behind }) => [`{world="${world}",log="${log}"}`, behind]),
      ),
      ...metric("stopped_logs", "gauge", "logs that are not copied until somebody acts; the program's log says why", [["", this.stopped]]),
    ];
    return `${lines.join("\n")}\n`;
  }
}

const metric = (name: string, type: string, help: string, values: readonly (readonly [labels: string, value: number])[]): string[] => [
  `# HELP plaza_firehose_${name} ${help}`,
  `# TYPE plaza_firehose_${name} ${type}`,
  ...values.map(([labels, value]) => `plaza_firehose_${name}${labels} ${value}`),
];

export function serveMetrics(report: Report, port: number): Server {
  const server = createServer((_request, response) => response.setHeader("content-type", "text/plain; version=0.0.4").end(report.text()));
  server.on("error", (error) => {
    say("error", `the metrics cannot be served on port ${port}: ${error.message}. Choose another --metrics-port`);
    process.exit(1);
  });
  return server.listen(port);
}
