import { type Static, Type } from "typebox";
import { closedMap, described, idOf, worldId } from "#graph/worlds/file/schema-words";
import { section } from "#graph/worlds/file/section";
import { catalogTasks } from "./product-catalogs.api.ts";
import { CATALOG_NAME_CHARACTERS_MAX, CATALOG_VERTICAL, EXTERNAL_BUSINESS_ID_CHARACTERS_MAX } from "./product-catalogs.contract.ts";
import { type Catalog, deleteCatalog, findCatalog, insertCatalog, listAllCatalogs, replaceCatalog } from "./product-catalogs.store.ts";

const task = Type.Unsafe<(typeof catalogTasks)[number]>({ enum: [...catalogTasks] });
const agency = closedMap({
  business: described("the id of the agency's business", idOf("business")),
  permitted_tasks: Type.Array(task, {
    minItems: 1,
    description:
      "the ids of the tasks that the agency may do: 240588526848665 allows managing the catalog, 2015469438531460 advertising with the catalog",
  }),
});

const entry = closedMap(
  {
    id: described("the catalog's id", worldId),
    page: described("the page that owns the catalog", idOf("page")),
    name: Type.String({ maxLength: CATALOG_NAME_CHARACTERS_MAX, default: "", description: "the catalog's name" }),
    vertical: Type.Unsafe<string>({ enum: [CATALOG_VERTICAL], default: CATALOG_VERTICAL, description: "the kind of products" }),
    business: Type.Optional(described("the business that the catalog is linked to", idOf("business"))),
    external_business_id: Type.Optional(
      Type.String({ maxLength: EXTERNAL_BUSINESS_ID_CHARACTERS_MAX, description: "the id that a partner gives the business" }),
    ),
    agencies: Type.Array(agency, { default: [], description: "the businesses with which the catalog is shared" }),
  },
  "a catalog of products of a page",
);

const catalogOf = ({ vertical: _, ...rest }: Static<typeof entry>): Catalog => ({ business: undefined, external_business_id: undefined, ...rest });

export const catalogSection = section({
  key: "catalogs",
  nodeType: "product_catalog",
  entry,
  insert: (tx, given) => insertCatalog(tx, catalogOf(given)),
  find: findCatalog,
  list: listAllCatalogs,
  entryOf: (catalog: Catalog) => ({ ...catalog, vertical: CATALOG_VERTICAL }),
  replace: (tx, given) => replaceCatalog(tx, catalogOf(given)),
  // The feeds of a removed catalog are deleted by `forgetOwner`, which deletes everything that a removed node owns.
  remove: deleteCatalog,
});
