/** An example of a webhook, for trying a receiver out. */
import { type Static, Type } from "typebox";
import { unprocessable } from "#control-contract/errors";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import { worldId } from "#graph/worlds/file/schema-words";
import { nodeId } from "#kernel/ids";
import type { FieldCatalogue } from "#webhooks/catalogue/catalogue";
import { findPayloadProblem, type WebhookField, type WebhookObject, webhookObjects } from "#webhooks/catalogue/field";

const triggerBody = (fields: FieldCatalogue) =>
  Type.Object(
    {
      object: Type.Unsafe<WebhookObject>({ enum: [...webhookObjects] }),
      field: Type.Unsafe<string>({ enum: [...new Set(fields.all.map(({ field }) => field))] }),
      entity: { ...worldId, description: "the account, page or catalog that the event is of" },
      phone_number: Type.Optional(worldId),
      value: Type.Optional(Type.Object({}, { additionalProperties: true, description: "what it carries; an example when left out" })),
    },
    { additionalProperties: false },
  );

/** Throws 422 where a caller's value breaks the contract of its field; the error names the place in the value. */
function requireValue(field: WebhookField, value: unknown): void {
  const broken = findPayloadProblem(field, value);
  if (broken === undefined) return;
  const at = broken.path === "" ? "value" : `value.${broken.path}`;
  throw unprocessable(`${at} ${broken.problem}, by the contract of ${field.field} of ${field.object}`, at);
}

type Trigger = ControlRequest<unknown, Static<ReturnType<typeof triggerBody>>>;

async function triggerEvent({ world: { clock, database, ports, webhooks }, body }: Trigger): Promise<unknown> {
  const { object, phone_number, value } = body;
  const entity = nodeId(String(body.entity));
  const phone = phone_number === undefined ? undefined : nodeId(String(phone_number));
  const field = webhooks.fields.find(object, body.field);
  if (field === undefined) throw unprocessable(`${object} has no field ${body.field}`, "field");
  if (value !== undefined) requireValue(field, value);
  const account = object === "social" ? await ports.get("social_account").findAccount(database.reader, entity) : undefined;
  const payload = value ?? field.example({ entity, phone, scopedId: account?.social_scoped_id, nowMs: clock.nowMs() });
  const deliveries = await database.write((tx) => webhooks.make(tx, field, { entity, phone, payload }));
  if (deliveries.length === 0) throw unprocessable(`no app gets ${body.field} of ${entity}: none is subscribed, or none may see it`);
  return { deliveries };
}

export const triggerRoutes = (fields: FieldCatalogue): readonly ControlRoute[] => [
  route({
    method: "POST",
    path: "/v1/worlds/{w}/deliveries/trigger",
    operation: "triggerWebhook",
    summary: "Makes an event as if it had happened, with an example unless a value is given, for the apps that are subscribed",
    body: triggerBody(fields),
    response: Type.Object({ deliveries: Type.Array(Type.String()) }),
    errors: [404, 422],
    handle: triggerEvent,
  }),
];
