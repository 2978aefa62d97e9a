/** What other features may import of catalogs. */
export { catalogAccess, catalogFilling } from "./product-catalogs.policies.ts";
export { lockCatalog } from "./product-catalogs.ports.ts";
