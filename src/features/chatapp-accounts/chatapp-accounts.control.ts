/**
 * The control route with which a test causes an event of a business messaging account, or of one of its phone numbers. Plaza sends the webhook for
 * each event that the control route causes (operating.md: in-app).
 */
import { type Static, Type } from "typebox";
import { unprocessable } from "#control-contract/errors";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import { worldId } from "#graph/worlds/file/schema-words";
import { findNode } from "#graph/worlds/nodes.store";
import type { World } from "#graph/worlds/world";
import type { Transaction } from "#storage/database";
import { chatappFields } from "./chatapp-accounts.webhooks.ts";

const chatappEvent = Type.Object(
  {
    account: { ...worldId, description: "the id of the business messaging account" },
    phone_number: Type.Optional({ ...worldId, description: "the id of a phone number of the account, if the event belongs to a number" }),
    field: Type.Unsafe<string>({ enum: chatappFields.map(({ field }) => field), description: "the webhook field" }),
    value: Type.Object({}, { additionalProperties: true, description: "the payload of the webhook" }),
  },
  { additionalProperties: false },
);
type ChatappEvent = Static<typeof chatappEvent>;

async function emitEvent(tx: Transaction, world: World, { account, phone_number, field, value }: ChatappEvent): Promise<void> {
  if ((await findNode(tx, account))?.type !== "chatapp_account") throw unprocessable(`there is no business messaging account ${account}`, "account");
  const number = phone_number === undefined ? undefined : await findNode(tx, phone_number);
  if (phone_number !== undefined && (number?.type !== "phone_number" || number.owner !== account)) {
    throw unprocessable(`${phone_number} is not a phone number of the account ${account}`, "phone_number");
  }
  await world.webhooks.emit(tx, world.webhooks.fields.read("chatapp_business_account", field), {
    entity: account,
    phone: phone_number,
    payload: value,
  });
}

async function handleEvent({ world, body }: ControlRequest<unknown, ChatappEvent>): Promise<void> {
  await world.database.write((tx) => emitEvent(tx, world, body));
}

export const chatappControlRoutes: readonly ControlRoute[] = [
  route("POST /v1/worlds/{w}/in-app/chatapp", "emitChatappEvent", {
    summary: "Causes an event of a business messaging account, or of one of its numbers: any field of the catalogue, with any value",
    body: chatappEvent,
    errors: [422],
    handle: handleEvent,
  }),
];
