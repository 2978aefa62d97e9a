import { Type } from "typebox";
import type { Field, FieldSet } from "#graph/contract/operation";
import { unservedFields } from "#graph/contract/unserved-fields";
import { pageNodePolicy } from "./pages.api.ts";
import type { PageRow } from "./pages.store.ts";

const text: Field<PageRow> = { schema: Type.String(), policy: pageNodePolicy };

/** D-165. */
export const pageNode: FieldSet<PageRow> = { fields: { id: text, name: text }, defaults: ["id", "name"], unserved: unservedFields.page };

export const readPage = {
  operation: "readPage",
  clauses: [],
  decisions: ["D-165"],
  surfaces: ["base"],
  versions: "platform",
  scheme: "anywhere",
  policy: pageNodePolicy,
  errorForm: "wrapped",
  errors: [],
} as const;
