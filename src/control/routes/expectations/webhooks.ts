/** The route that checks whether the expected webhooks were sent. */
import { type Static, Type } from "typebox";
import { countedWithin, expectEntries, met, unmet } from "#control-contract/expectation";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import { worldId } from "#graph/worlds/file/schema-words";
import { type EventRow, listNewestEvents } from "#webhooks/history/list.store";
import { type DeliveryStatus, deliveryStatuses, viewOf } from "#webhooks/history/view";
import { delivery } from "../webhooks/webhooks.ts";

/**
 * The number of newest events that an expectation reads, which is more than a test makes. An expectation that waits reads all these events and their
 * payloads at each check.
 */
const EVENTS_MAX = 200;

const ANY_STATUS = "any";

const expectation = Type.Object(
  {
    object: Type.Optional(Type.String({ description: "the object of the webhook, e.g. page" })),
    field: Type.Optional(Type.String({ description: "the webhook field, e.g. messages" })),
    entity: Type.Optional({ ...worldId, description: "the id of the account or page that the webhook is about" }),
    status: Type.Unsafe<DeliveryStatus | typeof ANY_STATUS>({
      enum: [...Object.keys(deliveryStatuses), ANY_STATUS],
      default: "delivered",
      description: "the state of the delivery",
    }),
    match: Type.Record(Type.String(), Type.Unknown(), {
      default: {},
      description: "expected values for keys of the webhook, in the shape of the response; maps, such as `value`, are compared by key",
    }),
    ...countedWithin("webhooks", EVENTS_MAX),
  },
  { additionalProperties: false },
);

const sentEvent = Type.Object({
  ...delivery.properties,
  field: Type.String(),
  event: Type.String({ description: "the id of the event; one event is sent to several apps" }),
  value: Type.Unknown({ description: "the payload of the event" }),
});

const entryOf = (row: EventRow) => ({ ...viewOf(row), event: row.event, value: JSON.parse(row.payload) as unknown });

async function expectWebhooks({ deps, world, body }: ControlRequest<unknown, Static<typeof expectation>>): Promise<unknown> {
  const { match, status, count, within_ms, ...kind } = body;
  const { reader } = world.database;
  const entries = {
    what: "webhook",
    // Events with an empty payload are left out, because they were erased (D-172).
    read: async () => (await listNewestEvents(reader, EVENTS_MAX)).filter(({ payload }) => payload !== "").map(entryOf),
    show: (entry: ReturnType<typeof entryOf>) => entry,
  };
  return expectEntries(entries, { kind, match: status === ANY_STATUS ? match : { status, ...match } }, { count, within_ms }, deps.realTime);
}

export const webhookExpectationRoutes: readonly ControlRoute[] = [
  route("POST /v1/worlds/{w}/deliveries/expect", "expectWebhooks", {
    summary: `Waits until the last ${EVENTS_MAX} webhooks contain the expected ones. If they do not come, the response is 422, with the webhooks that were seen and the differences of the nearest one`,
    body: expectation,
    response: met(sentEvent),
    errors: [422],
    unmet: unmet("webhook", sentEvent),
    handle: expectWebhooks,
  }),
];
