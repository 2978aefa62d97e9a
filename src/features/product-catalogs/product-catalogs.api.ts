/** What other features may import of catalogs. */
export { catalogAccess } from "./product-catalogs.policies.ts";
