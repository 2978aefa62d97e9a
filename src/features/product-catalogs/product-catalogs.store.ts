import { nodeTable } from "#graph/worlds/nodes.store";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Migration, Reader, Transaction } from "#storage/database";
import type { ListPage, PageRequest } from "#storage/keyset";
import { type Row, sql } from "#storage/sql";
import { type AgencyShare, type CatalogFacts, catalogFact, lockCatalog } from "./product-catalogs.api.ts";

export const productCatalogMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      "CREATE TABLE product_catalogs (id BIGINT PRIMARY KEY, page BIGINT NOT NULL, name TEXT NOT NULL, business BIGINT, external_business_id TEXT) WITHOUT ROWID",
      "CREATE INDEX product_catalogs_by_page ON product_catalogs (page, id)",
      `CREATE TABLE product_catalog_agencies (catalog BIGINT NOT NULL, business BIGINT NOT NULL, permitted_tasks TEXT NOT NULL,
        PRIMARY KEY (catalog, business)) WITHOUT ROWID`,
      // The two indexes find the catalogs that are linked to a deleted business, and the catalogs that are shared with the deleted business.
      "CREATE INDEX product_catalogs_by_business ON product_catalogs (business) WHERE business IS NOT NULL",
      "CREATE INDEX product_catalog_agencies_by_business ON product_catalog_agencies (business, catalog)",
    ],
  },
];

export interface Catalog extends CatalogFacts {
  readonly name: string;
  /** The id that a partner of the platform uses for the business (G1-15). */
  readonly external_business_id: string | undefined;
}

/** The columns of a catalog that responses show. */
export interface ShownCatalog extends Row {
  id: string;
  name: string;
}

interface CatalogRow extends Row {
  id: string;
  page: string;
  name: string;
  business: string | null;
  external_business_id: string | null;
}

interface AgencyRow extends Row {
  business: string;
  /** The permitted tasks: a JSON list of their ids. */
  permitted_tasks: string;
}

const table = nodeTable<CatalogRow>({
  table: "product_catalogs",
  nodeType: "product_catalog",
  ids: ["page", "business"],
  columns: ["name", "external_business_id"],
  fact: catalogFact,
});

export async function findCatalog(reader: Reader, id: string): Promise<Catalog | undefined> {
  const row = await table.find(reader, id);
  return row === undefined ? undefined : catalogOf(reader, row);
}

/** Lists all catalogs for the control API. */
export async function listAllCatalogs(reader: Reader, page: PageRequest): Promise<ListPage<Catalog>> {
  const found = await table.list(reader, page);
  return { ...found, rows: await Promise.all(found.rows.map((row) => catalogOf(reader, row))) };
}

async function catalogOf(reader: Reader, row: CatalogRow): Promise<Catalog> {
  return {
    id: nodeId(row.id),
    page: nodeId(row.page),
    name: row.name,
    business: row.business === null ? undefined : nodeId(row.business),
    external_business_id: row.external_business_id ?? undefined,
    agencies: await listAgencies(reader, row.id),
  };
}

async function listAgencies(reader: Reader, catalog: string): Promise<AgencyShare[]> {
  const rows = await reader.all<AgencyRow>(sql`
    SELECT CAST(a.business AS TEXT) AS business, a.permitted_tasks FROM product_catalog_agencies a WHERE a.catalog = ${catalog} ORDER BY a.business`);
  return rows.map(({ business, permitted_tasks }) => ({ business: nodeId(business), permitted_tasks: JSON.parse(permitted_tasks) }));
}

const rowOf = ({ id, page, name, business = undefined, external_business_id = undefined }: Catalog): CatalogRow => ({
  ...{ id, page, name },
  business: business ?? null,
  external_business_id: external_business_id ?? null,
});

/**
 * Stores a new catalog. Returns false, and stores nothing, if the catalog's id is used already. A catalog may belong to a page and to businesses, so
 * the node of the catalog is its own owner, and policies look up who may access the catalog (D-13).
 */
export async function insertCatalog(tx: Transaction, catalog: Catalog): Promise<boolean> {
  if (!(await table.insert(tx, rowOf(catalog)))) return false;
  await saveAgencies(tx, catalog);
  return true;
}

export async function replaceCatalog(tx: Transaction, catalog: Catalog): Promise<void> {
  await table.replace(tx, rowOf(catalog));
  await saveAgencies(tx, catalog);
}

async function saveAgencies(tx: Transaction, { id, agencies }: Catalog): Promise<void> {
  await tx.run(sql`DELETE FROM product_catalog_agencies WHERE catalog = ${id}`);
  for (const agency of agencies) {
    await tx.runOne(sql`
      INSERT INTO product_catalog_agencies (catalog, business, permitted_tasks)
      VALUES (${id}, ${agency.business}, ${JSON.stringify(agency.permitted_tasks)})
      ON CONFLICT (catalog, business) DO UPDATE SET permitted_tasks = excluded.permitted_tasks`);
  }
}

export async function deleteCatalog(tx: Transaction, id: NodeId): Promise<boolean> {
  await lockCatalog(tx, id);
  if (!(await table.remove(tx, id))) return false;
  await tx.run(sql`DELETE FROM product_catalog_agencies WHERE catalog = ${id}`);
  return true;
}

export async function listCatalogsOfPage(reader: Reader, page: NodeId): Promise<NodeId[]> {
  const own = await reader.all<{ id: string }>(sql`SELECT CAST(c.id AS TEXT) AS id FROM product_catalogs c WHERE c.page = ${page} ORDER BY c.id`);
  return own.map(({ id }) => nodeId(id));
}

/**
 * Removes a deleted business from the catalogs that are linked to it or shared with it. The catalogs of a removed business still belong to their
 * pages.
 */
export async function forgetBusiness(tx: Transaction, business: NodeId): Promise<void> {
  const touched = await tx.all<{ id: string }>(sql`
    SELECT CAST(c.id AS TEXT) AS id FROM product_catalogs c WHERE c.business = ${business}
    UNION SELECT CAST(a.catalog AS TEXT) AS id FROM product_catalog_agencies a WHERE a.business = ${business}`);
  await tx.run(sql`UPDATE product_catalogs SET business = NULL WHERE business = ${business}`);
  await tx.run(sql`DELETE FROM product_catalog_agencies WHERE business = ${business}`);
  for (const { id } of touched) tx.invalidate(catalogFact, id);
}
