/** The public API of the product-catalogs feature, which creates and deletes the catalogs of a page (G1). */
import { defineFeature, nodeType } from "#graph/contract/feature";
import { serveWrite } from "#graph/contract/operation";
import { catalogAccess, catalogCreation, catalogDeletion, catalogFilling, catalogReading } from "./product-catalogs.api.ts";
import { catalogNode, createCatalog, deleteCatalogOperation, readCatalog } from "./product-catalogs.contract.ts";
import { handleCreateCatalog, handleDeleteCatalog, subscribersOfCatalog } from "./product-catalogs.handlers.ts";
import { deleteCatalog, findCatalog, forgetBusiness, listCatalogsOfPage, productCatalogMigrations } from "./product-catalogs.store.ts";
import { catalogSection } from "./product-catalogs.world.ts";

export const productCatalogs = defineFeature({
  name: "product-catalogs",
  migrations: productCatalogMigrations,
  policies: [catalogAccess, catalogCreation, catalogDeletion, catalogFilling, catalogReading],
  nodeTypes: [
    nodeType({
      type: "product_catalog",
      policy: catalogAccess,
      reading: {
        ...readCatalog,
        set: catalogNode,
        async find(_request, reader, node) {
          const catalog = await findCatalog(reader, node.id);
          return catalog === undefined ? undefined : { id: catalog.id, name: catalog.name };
        },
      },
    }),
  ],
  operations: [serveWrite(createCatalog, handleCreateCatalog), serveWrite(deleteCatalogOperation, handleDeleteCatalog)],
  worldSections: [catalogSection],
  needs: ["business", "product_feed_writes", "webhook_subscription"],
  ports: (ports) => ({
    product_catalog: { findCatalog },
    catalog_subscribers: { subscribersOf: (reader, event) => subscribersOfCatalog(reader, ports, event) },
  }),
  async onOwnerDeleted(tx, owner, world) {
    await forgetBusiness(tx, owner);
    for (const catalog of await listCatalogsOfPage(tx, owner)) {
      await deleteCatalog(tx, catalog);
      await world.ports.get("product_feed_writes").deleteFeedsOfCatalog(tx, catalog, world);
    }
  },
});
