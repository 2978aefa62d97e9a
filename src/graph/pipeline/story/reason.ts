/**
 * Explains a request in one sentence (D-400): why it was refused, or why it caused no webhook, and which change solves the problem. The control API,
 * the commands, MCP and the console show the sentence that explains a request.
 */
import { nodeId } from "#kernel/ids";
import type { WebhookObject } from "#webhooks/catalogue/field";
import { findDelivery } from "#webhooks/history/list.store";
import { viewOf } from "#webhooks/history/view";
import type { Registry } from "../../contract/registry.ts";
import type { RequestEntry } from "../../worlds/request-log.ts";
import type { World } from "../../worlds/world.ts";
import { refusalReason } from "./refusal-reason.ts";
import { readStory } from "./story-text.ts";

/** Returns the sentence. Undefined if the request was served and its webhooks are on their way, because such a request needs no explanation. */
export async function reasonOf(entry: RequestEntry, registry: Registry, world: World): Promise<string | undefined> {
  const story = readStory(entry, registry);
  if (story === undefined) return undefined;
  const [unsent] = story.unsent ?? [];
  const [delivery] = story.deliveries;
  const refusal = refusalReason({ entry, story, registry, world });
  if (refusal !== undefined) return refusal;
  if (delivery !== undefined) return waitingReason(delivery, world);
  if (unsent === undefined || entry.app === undefined) return undefined;
  const { object, field, entity } = unsent;
  const event = { object: object as WebhookObject, field, entity: nodeId(entity), phone: undefined };
  const missing = await world.ports.get("webhook_app").missingFor(world.database.reader, event, nodeId(entry.app));
  return `No webhook: ${missing ?? `app ${entry.app} was not subscribed to ${field} of ${object} ${entity} when the request came, and is now: send the request again`}.`;
}

/** Says why a delivery waits or has failed. */
async function waitingReason(id: string, { database }: World): Promise<string | undefined> {
  const row = await findDelivery(database.reader, id);
  if (row === undefined) return undefined;
  const { app, callback, callback_id, reason, attempts } = viewOf(row);
  const last = attempts.at(-1);
  const answer = last === undefined ? "" : `, which ${last.status === undefined ? `failed with ${last.error}` : `answered ${last.status}`}`;
  switch (reason) {
    case "no_callback":
      return `The webhook waits, because app ${app} has no callback: set one with POST /${app}/subscriptions (object, fields, callback_url and verify_token), or start Plaza with --callback.`;
    case "callback_not_verified":
      return `The webhook waits, because the callback of app ${app} was not verified: set it again with POST /${app}/subscriptions (object, fields, callback_url and verify_token).`;
    case "callback_paused":
      return `The webhook waits, because the callback ${callback} is paused: resume it with plaza callback resume ${callback_id}.`;
    case "retry":
      return `The webhook waits for its next attempt at ${callback}${answer}: correct the receiver, or send the webhook again with plaza deliveries resend ${id}.`;
    case "gone":
    case "gave_up":
      return `The webhook failed at ${callback}${answer}: correct the receiver, and send the webhook again with plaza deliveries resend ${id}.`;
    default:
      return undefined;
  }
}
