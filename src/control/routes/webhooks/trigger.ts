/** The routes that list the webhook fields, and that send example webhooks with which people try a receiver. */
import { type Static, Type } from "typebox";
import { notFound, unprocessable } from "#control-contract/errors";
import { listOf } from "#control-contract/lists";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import type { WorldSection } from "#graph/contract/feature";
import { worldId } from "#graph/worlds/file/schema-words";
import { findNode } from "#graph/worlds/nodes.store";
import type { World } from "#graph/worlds/world";
import { type NodeId, nodeId } from "#kernel/ids";
import type { FieldCatalogue } from "#webhooks/catalogue/catalogue";
import { EXAMPLE_ID, findPayloadProblem, type WebhookField, type WebhookObject, webhookObjects } from "#webhooks/catalogue/field";
import type { EventFacts } from "#webhooks/ports";

const triggerBody = (fields: FieldCatalogue) =>
  Type.Object(
    {
      object: Type.Unsafe<WebhookObject>({ enum: [...webhookObjects] }),
      field: Type.Unsafe<string>({ enum: [...new Set(fields.all.map(({ field }) => field))] }),
      entity: { ...worldId, description: "the id of the account, page or catalog of the event" },
      phone_number: Type.Optional({ ...worldId, description: "the id of a phone number of the account, if the event belongs to a number" }),
      value: Type.Optional(Type.Object({}, { additionalProperties: true, description: "the payload of the event (default: an example)" })),
    },
    { additionalProperties: false },
  );

/**
 * Throws an error with status 422 if a value breaks the contract of its webhook field. The error contains the path of the
 * part of the value that is wrong.
 */
function requireValue(field: WebhookField, value: unknown): void {
  const broken = findPayloadProblem(field, value);
  if (broken === undefined) return;
  const at = broken.path === "" ? "value" : `value.${broken.path}`;
  throw unprocessable(`${at} ${broken.problem}, by the contract of ${field.field} of ${field.object}`, at);
}

type Trigger = ControlRequest<unknown, Static<ReturnType<typeof triggerBody>>>;

/**
 * Explains why no app gets an event: names the requirements that the world's only app does not meet. If the world has several apps, no reason is
 * given, because the intended app is unknown.
 */
async function whyNobody(apps: WorldSection, world: World, event: EventFacts): Promise<string> {
  const { rows } = await apps.list(world.database.reader, { limit: 2 }, world);
  const [app] = rows;
  if (app === undefined) return "the world has no app";
  const missing =
    rows.length === 1 ? await world.ports.get("webhook_app").missingFor(world.database.reader, event, nodeId(String(app.id))) : undefined;
  return missing ?? "no app is subscribed, or no subscribed app may see the event";
}

async function triggerEvent(apps: WorldSection, { world, body }: Trigger): Promise<unknown> {
  const { database, webhooks } = world;
  const { object, value } = body;
  const entity = nodeId(String(body.entity));
  const phone = body.phone_number === undefined ? undefined : nodeId(String(body.phone_number));
  const field = webhooks.fields.find(object, body.field);
  if (field === undefined) throw unprocessable(`${object} has no field ${body.field}`, "field");
  if (value !== undefined) requireValue(field, value);
  const payload = value ?? (await exampleOf(world, field, entity, phone));
  const deliveries = await database.write(async (tx) => {
    const number = phone === undefined ? undefined : await findNode(tx, phone);
    if (phone !== undefined && (number?.type !== "phone_number" || number.owner !== entity))
      throw unprocessable(`${phone} is not a phone number of ${entity}`, "phone_number");
    return webhooks.make(tx, field, { entity, phone, payload });
  });
  if (deliveries.length === 0) {
    const why = await whyNobody(apps, world, { object, field: field.field, entity, phone });
    throw unprocessable(`no app gets ${body.field} of ${entity}: ${why}. Start plaza listen, which subscribes an app while it runs`);
  }
  return { deliveries };
}

async function exampleOf({ clock, database, ports }: World, field: WebhookField, entity: NodeId, phone: NodeId | undefined): Promise<unknown> {
  const account = field.object === "social" ? await ports.get("social_account").findAccount(database.reader, entity) : undefined;
  return field.example({ entity, phone, scopedId: account?.social_scoped_id, nowMs: clock.nowMs() });
}

const idText = Type.Unsafe<string>({ type: "string", pattern: "^[1-9][0-9]{0,18}$" });
const exampleQuery = Type.Object({
  entity: { ...idText, description: "the id of the account or page of the event" },
  phone_number: Type.Optional(idText),
});

async function readExample({ world, path, query }: ControlRequest<Static<typeof exampleQuery>>): Promise<unknown> {
  const { object = "", field: name = "" } = path;
  const field = world.webhooks.fields.find(object, name);
  if (field === undefined) throw notFound(`webhook field ${name} of ${object}`);
  const phone = query.phone_number === undefined ? undefined : nodeId(query.phone_number);
  return { value: await exampleOf(world, field, nodeId(query.entity), phone) };
}

const FIELDS = "/v1/worlds/{w}/webhook-fields";

const fieldInList = Type.Object({
  object: Type.Unsafe<WebhookObject>({ enum: [...webhookObjects] }),
  field: Type.String(),
  summary: Type.String(),
  example: Type.Object({}, { additionalProperties: true, description: "an example payload of the entity 1000000000000001" }),
  follows_overrides: Type.Boolean({ description: "whether an account or phone number with a callback of its own gets the webhook there" }),
});

const listFields = async ({ world }: ControlRequest): Promise<unknown> => ({
  data: world.webhooks.fields.all.map((one) => {
    const { object, field, summary, honoursOverrides } = one;
    const entity = nodeId(EXAMPLE_ID);
    const example = one.example({ entity, phone: entity, scopedId: undefined, nowMs: world.clock.nowMs() });
    return { object, field, summary, example, follows_overrides: honoursOverrides };
  }),
  paging: {},
});

export const triggerRoutes = (fields: FieldCatalogue, apps: WorldSection): readonly ControlRoute[] => [
  route("POST /v1/worlds/{w}/deliveries/trigger", "triggerWebhook", {
    summary: "Triggers an event for the subscribed apps, with the given value or an example",
    body: triggerBody(fields),
    response: Type.Object({ deliveries: Type.Array(Type.String()) }),
    errors: [422],
    handle: (request) => triggerEvent(apps, request),
  }),
  route(`GET ${FIELDS}`, "listWebhookFields", {
    summary: "Lists the fields to which an app can subscribe, each with an example",
    response: listOf(fieldInList),
    handle: listFields,
  }),
  route(`GET ${FIELDS}/{object}/{field}/example`, "readWebhookExample", {
    summary: "Reads the example payload of a field",
    query: exampleQuery,
    response: Type.Object({ value: Type.Object({}, { additionalProperties: true }) }),
    handle: readExample,
  }),
];
