/** What others ask of catalogs: whose a catalog is. */

import type { FactsOf } from "#auth/facts-of";
import type { NodeId } from "#kernel/ids";
import type { PortRegistry } from "#kernel/ports";
import type { Reader, Transaction } from "#storage/database";

/** G1-20, G1-21: what an agency may do with a catalog that is shared with it. */
export const MANAGE_CATALOG_TASK = "240588526848665";
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
  /** G1-12: without one the catalog belongs to the page alone. */
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

/** Held by what deletes a catalog and what creates something in it, so that nothing is created in a catalog that is gone. */
export const lockCatalog = (tx: Transaction, catalog: string): Promise<void> => tx.lock("product_catalog", catalog);

/** The fact's key is the catalog's id; the store invalidates it when the catalog changes. */
export const catalogFact = "product_catalog";

export function catalogOf(catalog: NodeId, reader: Reader, ports: PortRegistry, facts: FactsOf): Promise<CatalogFacts | undefined> {
  return facts<CatalogFacts>(catalogFact).get(catalog, () => ports.get("product_catalog").findCatalog(reader, catalog));
}
