import { type Static, Type } from "typebox";
import type { WorldEntry, WorldSection } from "#graph/contract/feature";
import { worldId } from "#graph/worlds/file/schema-words";
import { nodeId } from "#kernel/ids";
import { CATALOG_NAME_CHARACTERS_MAX, CATALOG_VERTICAL, EXTERNAL_BUSINESS_ID_CHARACTERS_MAX } from "./product-catalogs.contract.ts";
import { catalogTasks } from "./product-catalogs.ports.ts";
import { type Catalog, deleteCatalog, findCatalog, insertCatalog, listAllCatalogs, saveCatalog } from "./product-catalogs.store.ts";

const closed = { additionalProperties: false };

const agency = Type.Object(
  { business: worldId, permitted_tasks: Type.Array(Type.Unsafe<(typeof catalogTasks)[number]>({ enum: [...catalogTasks] }), { minItems: 1 }) },
  closed,
);

const entry = Type.Object(
  {
    id: worldId,
    page: worldId,
    name: Type.String({ maxLength: CATALOG_NAME_CHARACTERS_MAX, default: "" }),
    vertical: Type.Unsafe<string>({ enum: [CATALOG_VERTICAL], default: CATALOG_VERTICAL }),
    business: Type.Optional(worldId),
    external_business_id: Type.Optional(Type.String({ maxLength: EXTERNAL_BUSINESS_ID_CHARACTERS_MAX })),
    agencies: Type.Array(agency, { default: [] }),
  },
  closed,
);
type Entry = Static<typeof entry>;

function catalogOf(input: WorldEntry): Catalog {
  const { vertical: _, business, external_business_id, ...rest } = input as Entry;
  return { ...rest, business, external_business_id };
}

function entryOf({ business, external_business_id, ...rest }: Catalog): WorldEntry {
  return {
    ...rest,
    vertical: CATALOG_VERTICAL,
    ...(business === undefined ? {} : { business }),
    ...(external_business_id === undefined ? {} : { external_business_id }),
  };
}

export const catalogSection: WorldSection = {
  key: "catalogs",
  entry,
  references: (input) => {
    const { page, business, agencies } = input as Entry;
    return [
      { path: "page", types: ["page"], id: page },
      ...(business === undefined ? [] : [{ path: "business", types: ["business"], id: business }]),
      ...agencies.map(({ business: id }, index) => ({ path: `agencies[${index}].business`, types: ["business"], id })),
    ];
  },
  insert: (tx, input) => insertCatalog(tx, catalogOf(input)),
  async find(reader, id) {
    const catalog = await findCatalog(reader, id);
    return catalog === undefined ? undefined : entryOf(catalog);
  },
  async list(reader, page) {
    const found = await listAllCatalogs(reader, page);
    return { ...found, rows: found.rows.map(entryOf) };
  },
  replace: (tx, input) => saveCatalog(tx, catalogOf(input)),
  // Its feeds are deleted by `forgetOwner`, like everything below a removed node.
  remove: (tx, id) => deleteCatalog(tx, nodeId(id)),
};
