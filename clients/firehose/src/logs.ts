/** Reads the logs of a Plaza server, and makes Kafka messages from the pages of a log. */
import type { ControlApi, DeliveryPage, EventPage, PlaceQuery } from "./control-api.ts";
import type { Message } from "./kafka.ts";

/** One log: the app events of an app, or the delivered webhooks of a world. */
export interface Log {
  readonly world: string;
  /** The id of the app, or `webhooks`. */
  readonly name: string;
  readonly topic: string;
  /**
   * The epoch of the log, and the number of its newest entry when the log was listed. For a log of webhooks, epoch and number are unknown before the
   * first page.
   */
  readonly epoch?: string;
  readonly last?: number;
  read(query: PlaceQuery): Promise<Page>;
}

export interface Page {
  readonly epoch: string;
  readonly messages: readonly Message[];
  /** The number of gaps: entries that were deleted before the firehose read them. The topic gets a message for each gap. */
  readonly gaps: number;
  readonly cursor: string;
  /** The number of the newest entry, if the page contains it. */
  readonly last?: number;
  readonly hasMore: boolean;
}

/** The key of a log's cursor in the topic of cursors. */
export const keyOf = ({ world, name }: Pick<Log, "world" | "name">): string => `${world}:${name}`;

const WEBHOOKS = "webhooks";

export async function* eventLogs(api: ControlApi, world: string, topic: string): AsyncGenerator<Log> {
  for await (const { app, epoch, last_request } of api.logs(world))
    yield {
      ...{ world, name: app, topic, epoch, last: last_request },
      read: async (query) => pageOfEvents(world, app, await api.events(world, app, query)),
    };
}

export const webhookLog = (api: ControlApi, world: string, topic: string): Log => ({
  ...{ world, name: WEBHOOKS, topic },
  read: async (query) => pageOfDeliveries(world, await api.deliveries(world, query)),
});

function pageOfEvents(world: string, app: string, { epoch, data, gaps, cursor, has_more }: EventPage): Page {
  const numbered: (readonly [request: number, value: object])[] = [
    ...gaps.map(({ first_request: first, last_request: last }): [number, object] => [
      first,
      { kind: "gap", id: `${app}:${first}-${last}:gap`, world, epoch, app, first_request: first, last_request: last },
    ]),
    ...data.map((event): [number, object] => {
      const [request = "", position = ""] = event.id.split("-");
      return [Number(request), { ...{ kind: "event", id: "", world, epoch, app }, ...event, id: `${app}:${request}:${position}` }];
    }),
  ];
  // A message about a gap gets the position of the missing requests in the log. The sort keeps the order of events of one request, and a page
  // without gaps is already in order.
  if (gaps.length > 0) numbered.sort(([one], [other]) => one - other);
  const messages = numbered.map(([, value]) => ({ key: app, value: JSON.stringify(value) }));
  return { epoch, messages, gaps: gaps.length, cursor, hasMore: has_more };
}

function pageOfDeliveries(world: string, { epoch, data, gaps, cursor, last_position, has_more }: DeliveryPage): Page {
  const numbered = [
    ...gaps.map(({ first_position: first, last_position: last }) => {
      const value = { kind: "gap", id: `${WEBHOOKS}:${first}-${last}:gap`, world, epoch, first_position: first, last_position: last };
      return { at: first, key: WEBHOOKS, value: value as object };
    }),
    ...data.map((delivery) => {
      const { app, position, id, ...rest } = delivery;
      return {
        at: position,
        key: app,
        value: { ...{ kind: "webhook", id: "", world, epoch, app, position }, ...rest, delivery: id, id: `${app}:${WEBHOOKS}:${position}` },
      };
    }),
  ];
  if (gaps.length > 0) numbered.sort((one, other) => one.at - other.at);
  const messages = numbered.map(({ key, value }) => ({ key, value: JSON.stringify(value) }));
  return { epoch, messages, gaps: gaps.length, cursor: String(cursor), last: last_position, hasMore: has_more };
}

/** Makes the message that replaces a message which is too large for the brokers. */
export function withoutContent({ key, value }: Message): Message {
  const { id, world, epoch, app, kind } = JSON.parse(value) as Record<string, string>;
  const note = { kind: "too_large", id, world, epoch, app, of: kind, bytes: Buffer.byteLength(value) };
  return { key, value: JSON.stringify(note) };
}
