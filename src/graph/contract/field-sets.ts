/** What can be selected of a node beside the fields that its own feature declares (D-38). */
import { Type } from "typebox";
import type { Feature } from "./feature.ts";
import type { Field, FieldSet, ListOperation } from "./operation.ts";

/** The field set of a node type's read, for what references to such nodes select. */
export type SetOfType = (type: string) => FieldSet;

/** The set with the fields that other features give to nodes of that type. Throws where a field is there already. */
function extendedSet(type: string, set: FieldSet, features: readonly Feature[]): FieldSet {
  const extensions = features.flatMap((feature) => feature.fieldExtensions ?? []).filter(({ on }) => on === type);
  return extensions.length === 0 ? set : withFields(type, set, Object.fromEntries(extensions.map(({ name, field }) => [name, field])));
}

/** The list with all that can be selected of its items. They have no edges (D-38). */
export const withItemSet = (list: ListOperation, features: readonly Feature[]): ListOperation =>
  list.itemType === undefined ? list : { ...list, items: extendedSet(list.itemType, list.items, features) };

/** The set with all that can be selected of one node: other features' fields, edges, and what is inside its references. */
export function nodeSet(type: string, set: FieldSet, features: readonly Feature[], setOf: SetOfType): FieldSet {
  const extended = extendedSet(type, set, features);
  const edges = features.flatMap((feature) => feature.operations ?? []).flatMap(({ contract }) => (contract.kind === "list" ? [contract] : []));
  const own = edges.filter((edge) => edge.on === type && edge.edge !== null).map((edge) => [edge.edge, edgeField(withItemSet(edge, features))]);
  const whole = withFields(type, extended, Object.fromEntries(own));
  const fields = Object.entries(whole.fields).map(([name, field]) => [name, resolved(field, setOf)]);
  return { ...whole, fields: Object.fromEntries(fields) };
}

/** Its policy is checked by the read of the edge. */
const edgeField = (edge: ListOperation): Field => ({ schema: Type.Object({}), policy: edge.policy, edge });

const resolved = (field: Field, setOf: SetOfType): Field => {
  const { reference } = field;
  return reference === undefined ? field : { ...field, reference: { ...reference, set: () => setOf(reference.type) } };
};

function withFields(type: string, set: FieldSet, more: Readonly<Record<string, Field>>): FieldSet {
  const twice = Object.keys(more).find((name) => Object.hasOwn(set.fields, name));
  if (twice !== undefined) throw new Error(`two features declare the field ${twice} of ${type}`);
  return { ...set, fields: { ...set.fields, ...more } };
}
