import { type Static, Type } from "typebox";
import { closedMap, idOf, worldId } from "#graph/worlds/file/schema-words";
import { section } from "#graph/worlds/file/section";
import { catalogTasks } from "./product-catalogs.api.ts";
import { CATALOG_NAME_CHARACTERS_MAX, CATALOG_VERTICAL, EXTERNAL_BUSINESS_ID_CHARACTERS_MAX } from "./product-catalogs.contract.ts";
import { type Catalog, deleteCatalog, findCatalog, insertCatalog, listAllCatalogs, saveCatalog } from "./product-catalogs.store.ts";

const task = Type.Unsafe<(typeof catalogTasks)[number]>({ enum: [...catalogTasks] });
const agency = closedMap({ business: idOf("business"), permitted_tasks: Type.Array(task, { minItems: 1 }) });

const entry = closedMap({
  id: worldId,
  page: idOf("page"),
  name: Type.String({ maxLength: CATALOG_NAME_CHARACTERS_MAX, default: "" }),
  vertical: Type.Unsafe<string>({ enum: [CATALOG_VERTICAL], default: CATALOG_VERTICAL }),
  business: Type.Optional(idOf("business")),
  external_business_id: Type.Optional(Type.String({ maxLength: EXTERNAL_BUSINESS_ID_CHARACTERS_MAX })),
  agencies: Type.Array(agency, { default: [] }),
});

const catalogOf = ({ vertical: _, ...rest }: Static<typeof entry>): Catalog => ({ business: undefined, external_business_id: undefined, ...rest });

export const catalogSection = section({
  key: "catalogs",
  entry,
  insert: (tx, given) => insertCatalog(tx, catalogOf(given)),
  find: findCatalog,
  list: listAllCatalogs,
  entryOf: (catalog: Catalog) => ({ ...catalog, vertical: CATALOG_VERTICAL }),
  replace: (tx, given) => saveCatalog(tx, catalogOf(given)),
  // `forgetOwner` deletes the feeds of a removed catalog, like everything below a removed node.
  remove: deleteCatalog,
});
