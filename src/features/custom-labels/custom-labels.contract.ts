import { Type } from "typebox";
import { pageField, pageMessaging } from "#features/pages/api";
import { type Access, type Field, type FieldSet, listOperation, writeOperation } from "#graph/contract/operation";
import { filledText } from "#graph/schema/schema-node";
import { unknownUserError } from "./custom-labels.errors.ts";
import type { LabelRow } from "./custom-labels.store.ts";

/** D-40: the name of a label has 1 to 80 characters after trimming. */
export const labelName = filledText(80);

const access = {
  surfaces: ["base"],
  versions: "platform",
  scheme: "pageMessaging",
  policy: pageMessaging,
  errorForm: "flat",
} as const satisfies Partial<Access>;

const id: Field<LabelRow> = { schema: Type.String(), policy: pageMessaging };
const name: Field<LabelRow> = { schema: Type.String(), policy: pageMessaging };
const pageLabelName: Field<LabelRow> = { schema: Type.String(), policy: pageMessaging, of: (row) => row.name };

/** D-36: the fields of a label in lists and in the response to its creation (A2). By default, these responses have `id` and `name`. */
const labelInList: FieldSet<LabelRow> = {
  fields: { id, name, page: pageField(pageMessaging), page_label_name: { ...pageLabelName, onlyIn: "clients" } },
  defaults: ["id", "name"],
  clientsDefaults: ["id", "name", "page_label_name"],
};

/** D-36: the fields of a label that is read by its id. By default, a label that is read by its id has `id` and `page_label_name`. */
export const labelNode: FieldSet<LabelRow> = {
  fields: { id, page_label_name: pageLabelName, page: pageField(pageMessaging), name: { ...name, onlyIn: "clients" } },
  defaults: ["id", "page_label_name"],
  clientsDefaults: ["id", "page_label_name", "name"],
};

const success = Type.Object({ success: Type.Boolean() });

export const readLabel = {
  ...access,
  operation: "readLabel",
  clauses: ["A3-1", "A3-2", "A3-3", "A3-4", "A3-5", "A-5", "A-6"],
  decisions: ["D-36", "D-40", "D-92"],
  errors: [],
} as const;

export const listLabels = listOperation({
  ...access,
  operation: "listLabels",
  summary: "Lists the custom labels of a page, newest first.",
  clauses: ["A1-1", "A1-2", "A1-3", "A1-4", "A1-5", "A1-6", "A1-7", "A1-8", "A1-9", "A1-10", "A-1", "A-3", "A-4", "A-13", "A-14", "A-15", "LIM-6"],
  decisions: ["D-36", "D-40", "D-92", "D-96"],
  on: "page",
  edge: "custom_labels",
  params: Type.Object({}),
  items: labelInList,
  itemType: "label",
  errors: [],
});

export const listLabelsOfUser = listOperation({
  ...access,
  operation: "listLabelsOfUser",
  summary: "Lists the labels attached to a person's thread (D-40).",
  clauses: [],
  decisions: ["D-40"],
  on: "page_person",
  edge: "custom_labels",
  params: Type.Object({}),
  items: labelInList,
  itemType: "label",
  errors: [],
});

export const createLabel = writeOperation({
  ...access,
  operation: "createLabel",
  summary: "Creates a custom label on a page.",
  clauses: ["A2-1", "A2-2", "A2-3", "A2-4", "A2-5", "A2-6", "A2-7"],
  decisions: ["D-36", "D-40", "D-135"],
  on: "page",
  method: "POST",
  edge: "custom_labels",
  params: Type.Object({
    page_label_name: Type.String({ ...labelName, description: "the label's name, which must be unique on the page" }),
  }),
  places: { page_label_name: "body" },
  aliases: { name: "page_label_name" },
  returns: Type.Object({ id: Type.String(), name: Type.String(), page_label_name: Type.Optional(Type.String()) }),
  readBack: { type: "label", set: labelInList },
  errors: ["invalidParameter"],
});

export const deleteLabelOperation = writeOperation({
  ...access,
  operation: "deleteLabel",
  summary: "Deletes a label and detaches it from all people.",
  clauses: ["A4-1", "A4-2", "A4-3", "A4-4", "A-7", "A-8"],
  decisions: ["D-40", "D-135"],
  on: "label",
  method: "DELETE",
  edge: null,
  params: Type.Object({}),
  returns: success,
  errors: [],
});

/** D-40: the id of a person can be sent as a string or as a number. */
const user = Type.String({ description: "the page-scoped id of the person" });

export const attachLabelOperation = writeOperation({
  ...access,
  operation: "attachLabel",
  summary: "Attaches a label to a person's thread.",
  clauses: ["A5-1", "A5-2", "A5-3", "A5-4", "A5-5", "A5-6"],
  decisions: ["D-40", "D-135"],
  on: "label",
  method: "POST",
  edge: "label",
  params: Type.Object({ user }),
  places: { user: "body" },
  returns: success,
  errors: [unknownUserError],
});

export const detachLabelOperation = writeOperation({
  ...access,
  operation: "detachLabel",
  summary: "Detaches a label from a person's thread.",
  clauses: ["A6-1", "A6-2", "A6-3", "A6-4", "A6-5"],
  decisions: ["D-40", "D-135"],
  on: "label",
  method: "DELETE",
  edge: "label",
  params: Type.Object({ user }),
  places: { user: "query" },
  returns: success,
  errors: [unknownUserError],
});
