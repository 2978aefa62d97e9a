/** What happens, whoever causes it: D1 and the app make the same message. Each event is emitted in the caller's transaction. */
import type { World } from "#graph/world";
import type { NodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import { commentPayload, echoPayload, postbackPayload } from "./self-messaging.payloads.ts";
import type { SelfMessagingReader } from "./self-messaging.reader.ts";

const emit = (tx: Transaction, world: World, field: string, entity: NodeId, payload: object): Promise<void> =>
  world.webhooks.emit(tx, { object: "social", field, entity, payload });

export const selfMessagingEvents: SelfMessagingReader = {
  async writeToSelf(tx, world, account, text) {
    const mid = world.ids.mint();
    await emit(tx, world, "messages", account.id, echoPayload(account, mid, text, world.clock.nowMs()));
    return mid;
  },

  pressButton: (tx, world, account, postback) => emit(tx, world, "messages", account.id, postbackPayload(account, postback, world.clock.nowMs())),

  async comment(tx, world, from, media, text, field) {
    const id = world.ids.mint();
    await emit(tx, world, field, media.owner, commentPayload(from, media, id, text));
    return id;
  },
};
