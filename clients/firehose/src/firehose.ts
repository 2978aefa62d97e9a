/**
 * Copies the logs of a Plaza server to topics until the program ends (D-425).
 *
 * **Invariant:** a cursor is stored only after the brokers have acknowledged all messages before it. Because of this order, each entry of a log is
 * copied to the log's topic at least once, whichever process dies. If entries are copied twice, their first copies are still in the order of the log.
 */
import { type ControlApi, Refused } from "./control-api.ts";
import { type Cursor, isRefusedByBrokers, isTooLarge, type Message, type Topics } from "./kafka.ts";
import { eventLogs, keyOf, type Log, type Page, webhookLog, withoutContent } from "./logs.ts";
import { type Report, say } from "./report.ts";
import { Fatal, pause, type Retries, untilDone } from "./retry.ts";

export interface FirehoseOptions {
  readonly api: ControlApi;
  readonly topics: Topics;
  readonly report: Report;
  /** The worlds to copy; empty for all worlds that the control key can read. */
  readonly worlds: readonly string[];
  readonly eventTopic: string;
  /** The topic of webhooks; undefined if webhooks are not copied. */
  readonly webhookTopic: string | undefined;
  /** The logs to copy again from their beginning, as `world:app`. */
  readonly fromBeginning: readonly string[];
  readonly pollMs: number;
  readonly ending: AbortSignal;
}

/**
 * The number of logs that are copied at the same time. If the firehose copied more logs at the same time, each request would only wait longer for the
 * server.
 */
const LOGS_AT_ONCE = 4;

export class Firehose {
  readonly #options: FirehoseOptions;
  readonly #retries: Retries;
  #cursors = new Map<string, Cursor>();

  constructor(options: FirehoseOptions) {
    this.#options = options;
    this.#retries = { ...options, isFinal: (error) => error instanceof Fatal || isFinalRefusal(error) || isRefusedByBrokers(error) };
  }

  /** Creates the topics, and reads the cursors of all logs. */
  async open(): Promise<void> {
    const { topics, eventTopic, webhookTopic, fromBeginning } = this.#options;
    await untilDone("to make the topics", () => topics.make(webhookTopic === undefined ? [eventTopic] : [eventTopic, webhookTopic]), this.#retries);
    this.#cursors = await untilDone("to read the cursors", () => topics.readCursors(), this.#retries);
    for (const log of fromBeginning) this.#cursors.delete(log);
    say("info", "started", { cursors: this.#cursors.size });
  }

  /** Copies new entries until the program ends. */
  async run(): Promise<void> {
    const { pollMs, ending } = this.#options;
    while (!ending.aborted) {
      await this.copyAll();
      await pause(pollMs, ending);
    }
  }

  /** Copies the entries that all logs have at this moment. */
  async copyAll(): Promise<void> {
    const { api, worlds, ending } = this.#options;
    const names = worlds.length > 0 ? worlds : await untilDone("to list the worlds", () => api.worlds(), this.#retries);
    for (const world of names) {
      if (ending.aborted) return;
      const logs = await untilDone(`to list the logs of the world ${world}`, () => this.#waitingLogs(world), this.#retries).catch(
        (error: unknown) => {
          // If the firehose copies all worlds, somebody may delete a world after the firehose has listed it.
          if (worlds.length === 0 && error instanceof Refused && error.status === 404) return [];
          throw error;
        },
      );
      const copying = Array.from({ length: LOGS_AT_ONCE }, async () => {
        for (let log = logs.shift(); log !== undefined && !ending.aborted; log = logs.shift()) await this.#copy(log);
      });
      await Promise.all(copying);
    }
  }

  /** Lists those logs of a world that may have entries which are not copied yet. */
  async #waitingLogs(world: string): Promise<Log[]> {
    const { api, report, eventTopic, webhookTopic } = this.#options;
    const waiting: Log[] = [];
    for await (const log of eventLogs(api, world, eventTopic)) {
      const cursor = this.#cursors.get(keyOf(log));
      const copied = cursor !== undefined && cursor.epoch === log.epoch ? requestOf(cursor) : 0;
      report.progress(world, log.name).behind = Math.max(0, (log.last ?? 0) - copied);
      if (cursor?.after !== String(log.last) || cursor.epoch !== log.epoch) waiting.push(log);
    }
    if (webhookTopic !== undefined) waiting.push(webhookLog(api, world, webhookTopic));
    return waiting;
  }

  /** Copies one log to its end. The next page is read while the messages of the previous page are sent. */
  async #copy(log: Log): Promise<void> {
    const { topics, report, ending } = this.#options;
    const progress = report.progress(log.world, log.name);
    const stored = this.#cursors.get(keyOf(log));
    let reading = this.#read(log, stored);
    while (!ending.aborted) {
      const page = await reading;
      if (page === undefined) return;
      progress.stopped = undefined;
      const cursor = { epoch: page.epoch, after: page.cursor };
      if (page.hasMore) {
        reading = this.#read(log, cursor);
        // If sending fails, the page that is being read is not used, and its error is ignored.
        reading.catch(() => {});
      }
      await this.#append(log.topic, page.messages);
      const known = this.#cursors.get(keyOf(log));
      if (known?.after !== cursor.after || known.epoch !== cursor.epoch) {
        await untilDone("to store a cursor", () => topics.saveCursor(keyOf(log), cursor), this.#retries);
        this.#cursors.set(keyOf(log), cursor);
      }
      report.messages += page.messages.length;
      if (page.gaps > 0) {
        report.gaps += page.gaps;
        say("warn", "entries were deleted before they were copied; the topic has a message of the kind gap for them", { log: keyOf(log) });
      }
      progress.behind = Math.max(0, (page.last ?? log.last ?? 0) - requestOf(cursor));
      if (!page.hasMore) return;
    }
  }

  /** Reads the page after a cursor. Returns undefined if the log is stopped, or was deleted meanwhile. */
  async #read(log: Log, cursor: Cursor | undefined): Promise<Page | undefined> {
    try {
      return await untilDone(`to read the log ${keyOf(log)}`, () => log.read(cursor ?? {}), this.#retries);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (error.status === 404) return undefined;
      if (error.status !== 409) throw error;
      if (error.parameter === "epoch") {
        say("warn", "the world was reset or restored: its log is copied from the beginning of the new epoch", { log: keyOf(log) });
        return this.#read(log, undefined);
      }
      if (error.parameter !== "after") throw new Fatal(error.message);
      const progress = this.#options.report.progress(log.world, log.name);
      if (progress.stopped !== error.message) say("error", `the log is not copied any further: ${error.message}`, { log: keyOf(log) });
      progress.stopped = error.message;
      return undefined;
    }
  }

  /** Appends messages to a topic. If a message is too large for the brokers, appends a short message of the kind too_large in its place. */
  async #append(topic: string, messages: readonly Message[]): Promise<void> {
    const { topics } = this.#options;
    const send = (some: readonly Message[]) => untilDone(`to send to the topic ${topic}`, () => topics.append(topic, some), this.#retries);
    try {
      await send(messages);
    } catch (error) {
      if (!isTooLarge(error)) throw error;
      for (const message of messages) {
        await send([message]).catch((refused: unknown) => {
          if (!isTooLarge(refused)) throw refused;
          say("error", "a message is too large for the topic, which gets a note of the kind too_large in its place", { topic, key: message.key });
          return send([withoutContent(message)]);
        });
      }
    }
  }
}

const requestOf = ({ after }: Cursor): number => Number.parseInt(after, 10);

/**
 * Whether the server would refuse a retry of the request too. Callers treat a missing world or app differently, because somebody may create it later.
 */
const isFinalRefusal = (error: unknown): boolean => error instanceof Refused && !error.isTemporary;
