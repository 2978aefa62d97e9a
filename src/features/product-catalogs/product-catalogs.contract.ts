import { Type } from "typebox";
import { type Access, type Field, type FieldSet, writeOperation } from "#graph/contract/operation";
import { filledText, PROBLEM } from "#graph/schema/schema-node";
import { worldId } from "#graph/worlds/file/schema-words";
import type { NodeId } from "#kernel/ids";
import { catalogCreation, catalogDeletion, catalogReading } from "./product-catalogs.api.ts";
import type { ShownCatalog } from "./product-catalogs.store.ts";

/** G1-10, ERR-32: the only supported `vertical` of catalogs. */
export const CATALOG_VERTICAL = "commerce";
/** The longest name of a catalog. The document sets no limit for a catalog's name, so Plaza uses the limit for the names of products. */
export const CATALOG_NAME_CHARACTERS_MAX = 200;
/** The longest external id of a business: enough for a UUID, a number or an e-mail address. */
export const EXTERNAL_BUSINESS_ID_CHARACTERS_MAX = 255;

/** The ids of the tasks that an agency can have (G1-20, G1-21). */
const permittedTask = Type.Unsafe<"240588526848665" | "2015469438531460">({ enum: ["240588526848665", "2015469438531460"] });

/** D-337: the greatest number of tasks in a list. The limit is more than two, the number of existing tasks, because a list may repeat a task. */
const PERMITTED_TASKS_MAX = 100;

/**
 * The error text for a wrong business (D-56). Plaza sends the same text if the value of the parameter is not an id and if it is the id of a business
 * that does not exist.
 */
export const NO_BUSINESS = "must be the id of a business";
const business = (description: string) => Type.Unsafe<NodeId>({ ...worldId, description, [PROBLEM]: NO_BUSINESS });

const agency = Type.Object({
  /** G1-17, ERR-33: both properties of an agency are required. */
  business_id: business("the agency's business"),
  permitted_tasks: Type.Array(permittedTask, {
    minItems: 1,
    maxItems: PERMITTED_TASKS_MAX,
    description: "the ids of the tasks that the agency may do",
  }),
});

const text: Field<ShownCatalog> = { schema: Type.String(), policy: catalogReading };

/** D-145: the fields of a catalog. */
export const catalogNode: FieldSet<ShownCatalog> = {
  fields: { id: text, name: text, vertical: { ...text, of: () => CATALOG_VERTICAL } },
  defaults: ["id", "name"],
};

const access = {
  clauses: [],
  decisions: ["D-145"],
  surfaces: ["base"],
  versions: "marketing",
  scheme: "anywhere",
  policy: catalogReading,
  errorForm: "wrapped",
  errors: ["versionDeprecated"],
} as const satisfies Access;

export const readCatalog = { ...access, operation: "readCatalog" } as const;

export const deleteCatalogOperation = writeOperation({
  ...access,
  policy: catalogDeletion,
  operation: "deleteCatalog",
  decisions: ["D-146"],
  summary: "Deletes a product catalog with its feeds and their items (D-146).",
  on: "product_catalog",
  method: "DELETE",
  edge: null,
  params: Type.Object({}),
  returns: Type.Object({ success: Type.Boolean() }),
});

export const createCatalog = writeOperation({
  operation: "createCatalog",
  summary: "Creates a product catalog for a page, optionally linked to a business and shared with an agency.",
  clauses: [
    ...["G1-1", "G1-2", "G1-4", "G1-6", "G1-7", "G1-8", "G1-9", "G1-10", "G1-11", "G1-12", "G1-13", "G1-14", "G1-15", "G1-16", "G1-17", "G1-18"],
    ...["G1-19", "G1-20", "G1-21", "G1-22", "G1-23"],
    ...["AUTH-17", "AUTH-18", "ERR-32", "ERR-33"],
  ],
  decisions: ["D-03", "D-13", "D-56", "D-144"],
  surfaces: ["ads"],
  versions: "marketingOrCurrent",
  scheme: "catalogCreation",
  policy: catalogCreation,
  errorForm: "wrapped",
  on: "page",
  method: "POST",
  edge: "owned_product_catalogs",
  alsoUnder: "pages",
  params: Type.Object({
    name: Type.String({ ...filledText(CATALOG_NAME_CHARACTERS_MAX), description: "the catalog's name" }),
    vertical: Type.Optional(Type.Unsafe<string>({ enum: [CATALOG_VERTICAL], description: "the kind of items in the catalog" })),
    business_id: Type.Optional(business("the business that owns the catalog; the caller must belong to the business")),
    business_metadata: Type.Optional(
      Type.Object(
        {
          external_business_id: Type.Optional(
            Type.String({ maxLength: EXTERNAL_BUSINESS_ID_CHARACTERS_MAX, description: "your own id for the business" }),
          ),
          agency: Type.Optional(agency),
        },
        { description: "your own id for the business, and an agency with which the catalog is shared" },
      ),
    ),
  }),
  returns: Type.Object({ id: Type.String() }),
  errors: ["invalidParameter", "versionDeprecated"],
});
