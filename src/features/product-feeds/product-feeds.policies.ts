import { definePolicy } from "#auth/policy";
import { catalogAccess } from "#features/product-catalogs/api";

/** AUTH-19, D-13: of G2. */
export const productFeed = definePolicy({
  ...catalogAccess,
  name: "productFeed",
  summary: "access to the feed's catalog: by a page task, by its business, or by an agency that it is shared with",
  scopes: ["catalog_management"],
});
