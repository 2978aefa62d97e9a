import type { Static } from "typebox";
import type { OperationRequest } from "#graph/contract/operation";
import { notFoundNode } from "#graph/pipeline/route";
import { insertMinted } from "#graph/worlds/nodes.store";
import { invalidParameter } from "#kernel/errors";
import type { NodeId } from "#kernel/ids";
import type { PortRegistry } from "#kernel/ports";
import type { Reader, Transaction } from "#storage/database";
import type { EventFacts } from "#webhooks/ports";
import type { AgencyShare } from "./product-catalogs.api.ts";
import { type createCatalog, NO_BUSINESS } from "./product-catalogs.contract.ts";
import { deleteCatalog, findCatalog, insertCatalog } from "./product-catalogs.store.ts";

type CreateCatalog = OperationRequest<Static<typeof createCatalog.params>>;

export async function handleCreateCatalog(request: CreateCatalog, tx: Transaction) {
  const { node, params, world } = request;
  const { name, business_id, business_metadata } = params;
  const business = business_id === undefined ? undefined : await readOwnBusiness(request, tx, business_id);
  const share = await readShare(request, tx);
  const catalog = {
    page: node.id,
    name,
    business,
    external_business_id: business_metadata?.external_business_id,
    // G1-22, D-144: a catalog is shared only if the request has both a business and an agency. G1-12: if the request has no business, the catalog
    // belongs only to the page.
    agencies: business === undefined || share === undefined ? [] : [share],
  };
  return { id: await insertMinted(world.ids, (id) => insertCatalog(tx, { ...catalog, id })) };
}

export async function handleDeleteCatalog(request: OperationRequest, tx: Transaction) {
  const { node, world } = request;
  if (!(await deleteCatalog(tx, node.id))) throw notFoundNode(request);
  await world.ports.get("product_feed_writes").deleteFeedsOfCatalog(tx, node.id, world);
  return { success: true };
}

/** D-56: reads the agency of a request. The request fails if the agency's business does not exist, even if the catalog would not be shared. */
async function readShare(request: CreateCatalog, tx: Transaction): Promise<AgencyShare | undefined> {
  const agency = request.params.business_metadata?.agency;
  if (agency === undefined) return undefined;
  const business = await readBusiness(request, tx, agency.business_id, "business_metadata.agency.business_id");
  return { business, permitted_tasks: [...new Set(agency.permitted_tasks)] };
}

/**
 * D-56: reads the business of a request. The request fails if the business does not exist or if the caller does not work for the business, so that
 * strangers cannot link a catalog to a business.
 */
async function readOwnBusiness(request: CreateCatalog, tx: Transaction, id: NodeId): Promise<NodeId> {
  const business = await readBusiness(request, tx, id, "business_id");
  const { user } = request.caller.token;
  const isTied = user !== undefined && (await request.world.ports.get("business").hasPerson(tx, business, user));
  if (!isTied) throw invalidParameter("business_id", NO_BUSINESS);
  return business;
}

async function readBusiness({ world }: CreateCatalog, tx: Transaction, id: NodeId, parameter: string): Promise<NodeId> {
  if (!(await world.ports.get("business").exists(tx, id))) throw invalidParameter(parameter, NO_BUSINESS);
  return id;
}

/**
 * D-149: returns the apps that receive an event of a catalog. An app receives an event of a catalog if the app is subscribed to the event's field,
 * and also to any field of the catalog's page.
 */
export async function subscribersOfCatalog(reader: Reader, ports: PortRegistry, { object, field, entity }: EventFacts): Promise<NodeId[]> {
  const catalog = await findCatalog(reader, entity);
  if (catalog === undefined) return [];
  const subscriptions = ports.get("webhook_subscription");
  const subscribers: NodeId[] = [];
  for (const { app } of await subscriptions.listOfPage(reader, catalog.page))
    if (await subscriptions.isSubscribed(reader, app, object, field)) subscribers.push(app);
  return subscribers;
}
