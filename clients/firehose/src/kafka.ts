/** Appends messages to topics. The cursors are stored in a compacted topic, so the firehose needs no disk. */
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
  /** The id of the app. Because the app is the key, all messages of an app are in one partition. */
  readonly key: string;
  readonly value: string;
}

/** The position in a log up to which the log is copied. */
export interface Cursor {
  readonly epoch: string;
  readonly after: string;
}

export interface TopicOptions {
  readonly connection: Pick<BaseOptions, "bootstrapBrokers" | "tls" | "sasl">;
  readonly cursorTopic: string;
  readonly partitions: number;
  /** The number of replicas of each partition; -1 for the default of the brokers. */
  readonly replicas: number;
}

const BASE = {
  clientId: "plaza-firehose",
  // The Kafka library retries a request only once, because `untilDone` retries failed requests and logs each failure.
  retries: 1,
  retryDelay: 100,
  connectTimeout: 5_000,
  requestTimeout: 30_000,
} as const satisfies Partial<BaseOptions>;

/**
 * After its start a broker refuses readers for some seconds. For reads the library waits for the broker with many retries, because the firehose
 * cannot repeat a read after it has used some of its messages.
 */
const PATIENT = { retries: 20, retryDelay: 500 } as const satisfies Partial<BaseOptions>;

/** The greatest number of bytes of messages in one request. Brokers refuse a batch above 1 MB by default. */
const SEND_BYTES_MAX = 512 * 1024;
/** Waits for all in-sync replicas before a message counts as copied. */
const ALL_REPLICAS = -1;

const hasId = (error: unknown, ...ids: readonly string[]): boolean => ids.some((id) => findErrorBy(error as Error, "apiId", id) !== null);

export const isTooLarge = (error: unknown): boolean => hasId(error, "MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE");

/** Whether the brokers have refused a request for a reason that lasts until somebody changes the configuration. */
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

  /** Creates the topics that do not exist. An existing topic keeps its partitions and settings. */
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
            // The error is ignored if another firehose has created the topic since the list of topics was read.
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

  /** Reads the messages that the topic contains at the time of the call. */
  async *read(topic: string): AsyncGenerator<Message> {
    const consumer = new Consumer({
      ...{ ...BASE, ...PATIENT, ...this.#options.connection, deserializers: stringDeserializers },
      // The reader commits no offsets, so the brokers store nothing for this group.
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
   * Appends messages in their order. When the promise resolves, all in-sync replicas have the messages. If the promise rejects, some messages may be
   * in the topic, and the caller sends all of them again. Even if messages are sent again, their first copies in the topic are in the right order.
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
    // Sizes are counted in characters. Most messages are ASCII; other messages need up to three bytes for a character, and the brokers' limit is high
    // enough for such messages.
    if (part.length > 0 && size + message.value.length > SEND_BYTES_MAX) {
      yield part;
      [part, size] = [[], 0];
    }
    part.push(message);
    size += message.value.length;
  }
  if (part.length > 0) yield part;
}
