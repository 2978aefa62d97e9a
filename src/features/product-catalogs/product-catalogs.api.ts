/**
 * The port and the policies of catalogs (G1) that other features may import from the product-catalogs feature. The port returns the page, business
 * and agencies of a catalog.
 */
import type { FactsOf } from "#auth/app-facts";
import { type PageTask, pageTasksOf } from "#auth/page-policies";
import { definePolicy, type PolicyInput } from "#auth/policy";
import { worksFor } from "#features/businesses/api";
import { taskMissing } from "#kernel/errors";
import type { NodeId } from "#kernel/ids";
import type { PortRegistry } from "#kernel/ports";
import type { Awaitable } from "#kernel/turns";
import type { Reader, Transaction } from "#storage/database";

/** G1-20, G1-21: the ids of the tasks that an agency can have on a catalog that is shared with it. */
const MANAGE_CATALOG_TASK = "240588526848665";
const ADVERTISE_WITH_CATALOG_TASK = "2015469438531460";
export const catalogTasks = [MANAGE_CATALOG_TASK, ADVERTISE_WITH_CATALOG_TASK] as const;
export type CatalogTask = (typeof catalogTasks)[number];

export interface AgencyShare {
  readonly business: NodeId;
  readonly permitted_tasks: readonly CatalogTask[];
}

export interface CatalogFacts {
  readonly id: NodeId;
  readonly page: NodeId;
  /** G1-12: the business that is linked to the catalog; undefined if the catalog belongs only to its page. */
  readonly business: NodeId | undefined;
  readonly agencies: readonly AgencyShare[];
}

interface CatalogPort {
  findCatalog(reader: Reader, catalog: NodeId): Promise<CatalogFacts | undefined>;
}

declare module "#kernel/ports" {
  interface Ports {
    product_catalog: CatalogPort;
  }
}

/**
 * Locks a catalog. A transaction that deletes a catalog and a transaction that creates a feed in the catalog both take the catalog's lock, so that no
 * feed is created in a deleted catalog.
 */
export const lockCatalog = (tx: Transaction, catalog: string): Promise<void> => tx.lock("product_catalog", catalog);

/** The cached facts of a catalog. The key is the catalog's id; the store invalidates the facts when the catalog changes. */
export const catalogFact = "product_catalog";

function catalogOf(catalog: NodeId, reader: Reader, ports: PortRegistry, facts: FactsOf): Awaitable<CatalogFacts | undefined> {
  return facts<CatalogFacts>(catalogFact).get(catalog, () => ports.get("product_catalog").findCatalog(reader, catalog));
}

/** The tasks that give a person a right on a catalog. People of the linked business have all rights on the catalog without a task (D-13). */
interface Ways {
  /** A person who has one of these tasks on the catalog's page has the right that the policy checks. */
  readonly tasks: readonly PageTask[];
  /** A person who works for an agency has the right that the policy checks if the agency has one of these tasks on the catalog. */
  readonly sharedFor: readonly CatalogTask[];
}

const toAccess: Ways = { tasks: ["MANAGE", "ADVERTISE", "CREATE_CONTENT"], sharedFor: catalogTasks };
/** D-146: the tasks for changing the feeds of a catalog. People who only advertise with a catalog may not change its feeds. */
const toFill: Ways = { tasks: ["MANAGE", "CREATE_CONTENT"], sharedFor: [MANAGE_CATALOG_TASK] };
/** D-146: the tasks for deleting a catalog, which only its owners may do. */
const toDelete: Ways = { tasks: ["MANAGE"], sharedFor: [] };

async function isAllowed({ token, node, reader, ports, facts }: PolicyInput, { tasks, sharedFor }: Ways): Promise<boolean> {
  // The parameter `node` is a catalog, which is its own owner, or a feed, whose owner is the catalog.
  const catalog = await catalogOf(node.owner, reader, ports, facts);
  if (catalog === undefined) return false;
  if (token.type === "page") return token.page === catalog.page;
  const { user } = token;
  if (user === undefined) return false;
  const role = await pageTasksOf(catalog.page, user, reader, ports, facts);
  if (role !== undefined && tasks.some((task) => role.tasks.includes(task))) return true;
  const agencies = catalog.agencies.filter(({ permitted_tasks }) => sharedFor.some((task) => permitted_tasks.includes(task)));
  const businesses = [...(catalog.business === undefined ? [] : [catalog.business]), ...agencies.map(({ business }) => business)];
  for (const business of businesses) if (await worksFor(business, user, reader, ports, facts)) return true;
  return false;
}

/** The policy of access to a catalog and its feeds. */
export const catalogAccess = definePolicy({
  name: "catalogAccess",
  summary:
    "a token of the catalog's page, or of a person with task MANAGE, ADVERTISE or CREATE_CONTENT on the page, of the catalog's business, or of an agency with which the catalog is shared",
  kinds: ["page", "user", "system_user"],
  scopes: [],
  canSee: (input) => isAllowed(input, toAccess),
});

/** D-145: the policy of reading a catalog. */
export const catalogReading = definePolicy({ ...catalogAccess, name: "catalogReading", scopes: ["catalog_management"] });

/** D-146: the policy of creating, changing and deleting the feeds of a catalog. */
export const catalogFilling = definePolicy({
  ...catalogReading,
  name: "catalogFilling",
  summary:
    "a token of the catalog's page, or of a person with task MANAGE or CREATE_CONTENT on the page, of the catalog's business, or of an agency that may manage the catalog",
  deny: async (input) =>
    (await isAllowed(input, toFill)) ? undefined : taskMissing("the page task MANAGE or CREATE_CONTENT, or an agency that manages the catalog"),
});

/** D-146: the policy of deleting a catalog. */
export const catalogDeletion = definePolicy({
  ...catalogReading,
  name: "catalogDeletion",
  summary: "a token of the catalog's page, or of a person with task MANAGE on the page, or of the catalog's business",
  deny: async (input) => ((await isAllowed(input, toDelete)) ? undefined : taskMissing("the page task MANAGE or the catalog's business")),
});

/** AUTH-17, D-13: the policy of creating a catalog. */
export const catalogCreation = definePolicy({
  name: "catalogCreation",
  summary: "a user token with task MANAGE on the page",
  kinds: ["user"],
  scopes: ["catalog_management", "pages_manage_metadata"],
  canSee: async ({ token, node, reader, ports, facts }) =>
    token.user !== undefined && (await pageTasksOf(node.owner, token.user, reader, ports, facts)) !== undefined,
  async deny({ token, node, reader, ports, facts }) {
    const role = token.user === undefined ? undefined : await pageTasksOf(node.owner, token.user, reader, ports, facts);
    return role?.tasks.includes("MANAGE") === true ? undefined : taskMissing("the page task MANAGE");
  },
});
