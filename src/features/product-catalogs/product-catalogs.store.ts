import { deleteNode, insertNode } from "#graph/worlds/nodes.store";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
import { append, type Row, sql } from "#storage/sql";
import { type AgencyShare, type CatalogFacts, catalogFact, lockCatalog } from "./product-catalogs.api.ts";

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

const select = sql`
  SELECT CAST(c.id AS TEXT) AS id, CAST(c.page AS TEXT) AS page, c.name, CAST(c.business AS TEXT) AS business, c.external_business_id
  FROM product_catalogs c`;

export async function findCatalog(reader: Reader, id: string): Promise<Catalog | undefined> {
  const row = await reader.get<CatalogRow>(append(select, "WHERE c.id = ?", [id]));
  return row === undefined ? undefined : catalogOf(reader, row);
}

const byId = ordered("ascending", "c.id");

/** Lists all catalogs for the control API. */
export async function listAllCatalogs(reader: Reader, page: PageRequest): Promise<ListPage<Catalog>> {
  const found = await readPage<CatalogRow>(reader, append(select, "WHERE c.id > 0"), byId, page);
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

/** Stores a new catalog. Returns false, and stores nothing, if the catalog's id is used already. */
export async function insertCatalog(tx: Transaction, catalog: Catalog): Promise<boolean> {
  // A catalog may belong to a page and to businesses. A catalog's node therefore is its own owner, and policies look up who may access the catalog
  // (D-13).
  if (!(await insertNode(tx, { id: catalog.id, type: "product_catalog", owner: catalog.id }))) return false;
  await saveCatalog(tx, catalog);
  return true;
}

/** Inserts a catalog and its agencies, or replaces the stored ones. */
export async function saveCatalog(tx: Transaction, { id, page, name, business, external_business_id, agencies }: Catalog): Promise<void> {
  await tx.runOne(sql`
    INSERT INTO product_catalogs (id, page, name, business, external_business_id)
    VALUES (${id}, ${page}, ${name}, ${business ?? null}, ${external_business_id ?? null})
    ON CONFLICT (id) DO UPDATE SET page = excluded.page, name = excluded.name, business = excluded.business,
      external_business_id = excluded.external_business_id`);
  await tx.run(sql`DELETE FROM product_catalog_agencies WHERE catalog = ${id}`);
  for (const agency of agencies) {
    await tx.runOne(sql`
      INSERT INTO product_catalog_agencies (catalog, business, permitted_tasks)
      VALUES (${id}, ${agency.business}, ${JSON.stringify(agency.permitted_tasks)})
      ON CONFLICT (catalog, business) DO UPDATE SET permitted_tasks = excluded.permitted_tasks`);
  }
  tx.invalidate(catalogFact, id);
}

export async function deleteCatalog(tx: Transaction, id: NodeId): Promise<boolean> {
  await lockCatalog(tx, id);
  if ((await tx.run(sql`DELETE FROM product_catalogs WHERE id = ${id}`)) === 0) return false;
  await tx.run(sql`DELETE FROM product_catalog_agencies WHERE catalog = ${id}`);
  await deleteNode(tx, id);
  tx.invalidate(catalogFact, id);
  return true;
}

export async function listCatalogsOfPage(reader: Reader, page: NodeId): Promise<NodeId[]> {
  const own = await reader.all<{ id: string }>(sql`SELECT CAST(c.id AS TEXT) AS id FROM product_catalogs c WHERE c.page = ${page} ORDER BY c.id`);
  return own.map(({ id }) => nodeId(id));
}

/** Removes a deleted business from its catalogs; the catalogs still belong to their pages. */
export async function forgetBusiness(tx: Transaction, business: NodeId): Promise<void> {
  const touched = await tx.all<{ id: string }>(sql`
    SELECT CAST(c.id AS TEXT) AS id FROM product_catalogs c WHERE c.business = ${business}
    UNION SELECT CAST(a.catalog AS TEXT) AS id FROM product_catalog_agencies a WHERE a.business = ${business}`);
  await tx.run(sql`UPDATE product_catalogs SET business = NULL WHERE business = ${business}`);
  await tx.run(sql`DELETE FROM product_catalog_agencies WHERE business = ${business}`);
  for (const { id } of touched) tx.invalidate(catalogFact, id);
}
