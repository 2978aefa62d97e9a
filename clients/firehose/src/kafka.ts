/** The topics: messages are appended, and cursors are kept in a compacted topic, so the firehose needs no disk. */
import {
  Admin,
  type BaseOptions,
  Consumer,
  findErrorBy,
  MessagesStreamModes,
  Producer,
  stringDeserializers,
  stringSerializers,
} from "@platformatic/kafka";

export interface Message {
  /** The app, so that one partition has all messages of an app. */
  readonly key: string;
  readonly value: string;
}

/** The place in a log up to which it is copied. */
export interface Cursor {
  readonly epoch: string;
  readonly after: string;
}

export interface TopicOptions {
  readonly connection: Pick<BaseOptions, "bootstrapBrokers" | "tls" | "sasl">;
  readonly cursorTopic: string;
  readonly partitions: number;
  /** -1: the brokers' own default. */
  readonly replicas: number;
}

const BASE = {
  clientId: "plaza-firehose",
  // Failed work is tried again by `untilDone`, which says so; the library's own retries would be silent.
  retries: 1,
  retryDelay: 100,
  connectTimeout: 5_000,
  requestTimeout: 30_000,
} as const satisfies Partial<BaseOptions>;

/** After its start a broker needs some seconds before it takes readers; reading a topic cannot be tried again once messages were used. */
const PATIENT = { retries: 20, retryDelay: 500 } as const satisfies Partial<BaseOptions>;

/** The bytes of messages in one request. Brokers refuse a batch above 1 MB by default. */
const SEND_BYTES_MAX = 512 * 1024;
/** Every replica that is in step has a message before it counts as copied. */
const ALL_REPLICAS = -1;

const hasId = (error: unknown, ...ids: readonly string[]): boolean => ids.some((id) => findErrorBy(error as Error, "apiId", id) !== null);

export const isTooLarge = (error: unknown): boolean => hasId(error, "MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE");

/** Whether brokers will refuse the same request again, until somebody changes the configuration. */
export const isRefusedByBrokers = (error: unknown): boolean =>
  isTooLarge(error) ||
  hasId(error, "SASL_AUTHENTICATION_FAILED", "UNSUPPORTED_SASL_MECHANISM", "ILLEGAL_SASL_STATE") ||
  hasId(error, "TOPIC_AUTHORIZATION_FAILED", "CLUSTER_AUTHORIZATION_FAILED", "GROUP_AUTHORIZATION_FAILED") ||
  findErrorBy(error as Error, "code", "PLT_KFK_AUTHENTICATION") !== null;

export class Topics {
  readonly #options: TopicOptions;
  #producer: Producer<string, string, string, string> | undefined;

  constructor(options: TopicOptions) {
    this.#options = options;
  }

  /** Makes the topics that do not exist. An existing topic keeps its partitions and settings. */
  async make(names: readonly string[]): Promise<void> {
    const { connection, cursorTopic, partitions, replicas } = this.#options;
    const admin = new Admin({ ...BASE, ...connection });
    try {
      const known = new Set(await admin.listTopics());
      const compacted = [{ name: "cleanup.policy", value: "compact" }];
      for (const topic of [cursorTopic, ...names]) {
        if (known.has(topic)) continue;
        const isCursors = topic === cursorTopic;
        await admin
          .createTopics({ topics: [topic], partitions: isCursors ? 1 : partitions, replicas, ...(isCursors ? { configs: compacted } : {}) })
          .catch((error: unknown) => {
            // Another firehose may have made it meanwhile.
            if (!hasId(error, "TOPIC_ALREADY_EXISTS")) throw error;
          });
      }
    } finally {
      await admin.close();
    }
  }

  /** Reads the newest cursor of each log. */
  async readCursors(): Promise<Map<string, Cursor>> {
    const cursors = new Map<string, Cursor>();
    for await (const { key, value } of this.read(this.#options.cursorTopic)) cursors.set(key, JSON.parse(value) as Cursor);
    return cursors;
  }

  /** Reads the messages that a topic has now. */
  async *read(topic: string): AsyncGenerator<Message> {
    const consumer = new Consumer({
      ...{ ...BASE, ...PATIENT, ...this.#options.connection, deserializers: stringDeserializers },
      // No offsets are committed, so the group stores nothing.
      groupId: `plaza-firehose-${crypto.randomUUID()}`,
    });
    try {
      const ends = (await consumer.listOffsets({ topics: [topic] })).get(topic) ?? [];
      const starts = (await consumer.listOffsets({ topics: [topic], timestamp: -2n })).get(topic) ?? [];
      const waiting = new Map(ends.map((end, partition) => [partition, end] as const).filter(([partition, end]) => end > (starts[partition] ?? 0n)));
      if (waiting.size === 0) return;
      const stream = await consumer.consume({ topics: [topic], mode: MessagesStreamModes.EARLIEST, autocommit: false, maxWaitTime: 100 });
      for await (const { key, value, partition, offset } of stream) {
        const end = waiting.get(partition) ?? 0n;
        if (offset < end) yield { key, value };
        if (offset + 1n >= end) waiting.delete(partition);
        if (waiting.size === 0) break;
      }
      await stream.close();
    } finally {
      await consumer.close(true);
    }
  }

  /**
   * Appends messages in their order. When the promise resolves, all replicas that are in step have them. If it rejects, some may be there, and the
   * caller sends all of them again: the order of first appearances stays.
   */
  async append(topic: string, messages: readonly Message[]): Promise<void> {
    for (const part of partsOf(messages)) {
      await this.#open().send({ acks: ALL_REPLICAS, messages: part.map(({ key, value }) => ({ topic, key, value })) });
    }
  }

  saveCursor(log: string, cursor: Cursor): Promise<void> {
    return this.append(this.#options.cursorTopic, [{ key: log, value: JSON.stringify(cursor) }]);
  }

  async close(): Promise<void> {
    await this.#producer?.close(true);
  }

  #open(): Producer<string, string, string, string> {
    this.#producer ??= new Producer({ ...BASE, ...this.#options.connection, serializers: stringSerializers });
    return this.#producer;
  }
}

function* partsOf(messages: readonly Message[]): Generator<Message[]> {
  let part: Message[] = [];
  let size = 0;
  for (const message of messages) {
    // Most texts are ASCII; others take up to three bytes for each unit, for which the broker's limit has room.
    if (part.length > 0 && size + message.value.length > SEND_BYTES_MAX) {
      yield part;
      [part, size] = [[], 0];
    }
    part.push(message);
    size += message.value.length;
  }
  if (part.length > 0) yield part;
}
