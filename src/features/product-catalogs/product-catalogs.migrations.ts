import type { Migration } from "#storage/database";

export const productCatalogMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      "CREATE TABLE product_catalogs (id BIGINT PRIMARY KEY, page BIGINT NOT NULL, name TEXT NOT NULL, business BIGINT, external_business_id TEXT) WITHOUT ROWID",
      "CREATE INDEX product_catalogs_by_page ON product_catalogs (page, id)",
      `CREATE TABLE product_catalog_agencies (catalog BIGINT NOT NULL, business BIGINT NOT NULL, permitted_tasks TEXT NOT NULL,
        PRIMARY KEY (catalog, business)) WITHOUT ROWID`,
      // These indexes find the catalogs of a deleted business, and the catalogs that are shared with it.
      "CREATE INDEX product_catalogs_by_business ON product_catalogs (business) WHERE business IS NOT NULL",
      "CREATE INDEX product_catalog_agencies_by_business ON product_catalog_agencies (business, catalog)",
    ],
  },
];
