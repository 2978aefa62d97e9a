#!/usr/bin/env node
/** The program `plaza-firehose`. */
import { ControlApi, Refused } from "./control-api.ts";
import { Firehose } from "./firehose.ts";
import { Topics } from "./kafka.ts";
import { BadOption, controlKeyOf, controlUrlOf, HELP, type Options, readOptions } from "./options.ts";
import { Report, say, serveMetrics, textOf } from "./report.ts";

/** The interval of log lines about the progress of the copy. */
const REPORT_EVERY_MS = 10_000;

async function copy({ topics: topicOptions, values, pollMs, metricsPort }: Options, ending: AbortController): Promise<void> {
  const api = new ControlApi(controlUrlOf(values), controlKeyOf(values, process.env));
  const topics = new Topics(topicOptions);
  const report = new Report();
  const server = metricsPort === undefined ? undefined : serveMetrics(report, metricsPort);
  const saying = setInterval(() => report.say(), REPORT_EVERY_MS);
  const firehose = new Firehose({
    ...{ api, topics, report, pollMs, ending: ending.signal },
    ...{ worlds: values.world, eventTopic: values.topic, webhookTopic: values["webhook-topic"], fromBeginning: values["from-beginning"] },
  });
  try {
    await firehose.open();
    await (values.once ? firehose.copyAll() : firehose.run());
  } finally {
    clearInterval(saying);
    report.say();
    server?.close();
    await topics.close();
  }
  if (report.stopped > 0) process.exitCode = 1;
}

/**
 * Prints the messages that the topic contains when the command starts. A message that is in the topic more than once is
 * printed once.
 */
async function print(topic: string, options: Options): Promise<void> {
  const seen = new Set<string>();
  let lines = "";
  for await (const { value } of new Topics(options.topics).read(topic)) {
    const { id, world, epoch } = JSON.parse(value) as Record<string, string>;
    const identity = `${world} ${epoch} ${id}`;
    if (id !== undefined && seen.has(identity)) continue;
    seen.add(identity);
    lines += `${value}\n`;
    if (lines.length < PRINT_CHARACTERS) continue;
    await written(lines);
    lines = "";
  }
  await written(lines);
}

/** The number of characters in one write to stdout. */
const PRINT_CHARACTERS = 64 * 1024;

const written = (text: string): Promise<void> => new Promise((resolve) => process.stdout.write(text, () => resolve()));

/** Returns the text of the error that ends the program. */
function reasonOf(error: unknown): string {
  if (error instanceof Refused && error.status === 401) return `Plaza refuses the control key: ${error.message}`;
  return textOf(error);
}

async function main(): Promise<void> {
  const ending = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => ending.abort());
  try {
    const options = readOptions(process.argv.slice(2), process.env);
    if (options.isHelp) process.stdout.write(HELP);
    else await (options.read === undefined ? copy(options, ending) : print(options.read, options));
  } catch (error) {
    if (ending.signal.aborted) return;
    if (error instanceof BadOption) process.stderr.write(`plaza-firehose: ${error.message}\n`);
    else say("error", reasonOf(error));
    process.exitCode = error instanceof BadOption ? 2 : 1;
  }
}

await main();
// The program exits explicitly, because open connections to a broken broker would keep it running.
process.exit();
