import { Type } from "typebox";
import type { Field, FieldSet } from "#graph/contract/operation";
import { unservedFields } from "#graph/contract/unserved-fields";
import { ownBusiness } from "./businesses.api.ts";
import type { BusinessRow } from "./businesses.store.ts";

const text: Field<BusinessRow> = { schema: Type.String(), policy: ownBusiness };

/** D-165. */
export const businessNode: FieldSet<BusinessRow> = { fields: { id: text, name: text }, defaults: ["id", "name"], unserved: unservedFields.business };

export const readBusiness = {
  operation: "readBusiness",
  clauses: [],
  decisions: ["D-165"],
  surfaces: ["base"],
  versions: "platform",
  scheme: "anywhere",
  policy: ownBusiness,
  errorForm: "wrapped",
  errors: [],
} as const;
