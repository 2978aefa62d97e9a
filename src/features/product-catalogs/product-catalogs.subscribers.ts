/** D-149: who gets the webhooks of a catalog. */
import type { NodeId } from "#kernel/ids";
import type { PortRegistry } from "#kernel/ports";
import type { Reader } from "#storage/database";
import type { EventFacts } from "#webhooks/ports";
import { findCatalog } from "./product-catalogs.store.ts";

/** The apps that are subscribed to the field for themselves, and on the catalog's page, to whatever fields. */
export async function subscribersOfCatalog(reader: Reader, ports: PortRegistry, { object, field, entity }: EventFacts): Promise<NodeId[]> {
  const catalog = await findCatalog(reader, entity);
  if (catalog === undefined) return [];
  const subscriptions = ports.get("webhook_subscription");
  const subscribers: NodeId[] = [];
  for (const { app } of await subscriptions.listOfPage(reader, catalog.page))
    if (await subscriptions.isSubscribed(reader, app, object, field)) subscribers.push(app);
  return subscribers;
}
