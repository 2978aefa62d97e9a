/** Decides which fields a response has, before the step `handle` reads any rows (D-33, D-37, D-38). */
import type { TSchema } from "typebox";
import type { Policy } from "#auth/policy";
import { fieldUnavailable, invalidParameter, unknownField } from "#kernel/errors";
import { joined, named, type Selection, selectionText } from "#kernel/selection";
import { nearest } from "#kernel/suggestion";
import type { Field, FieldSet } from "../../contract/operation.ts";
import type { SchemaNode } from "../../schema/schema-node.ts";

export interface Chosen {
  readonly name: string;
  readonly field: Field;
  /** The projection that applies inside a nested object. Undefined if the field is not a nested object. */
  readonly inner: Projection | undefined;
  /** The keys that the caller selected inside a value that is a plain object. Undefined if all keys are selected. */
  readonly keys: Keys | undefined;
  /**
   * The parameter `fields` for the separate read of an edge or a reference. Undefined if the caller selected no fields inside the edge or reference.
   */
  readonly fieldsOfPart: string | undefined;
}

/** The fields of a field set that a selection chooses. The server makes a projection once for each request and uses it for each row. */
export interface Projection {
  readonly chosen: readonly Chosen[];
  /** Whether the caller named the fields in the parameter `fields`. */
  readonly isExplicit: boolean;
  /**
   * The policy of all chosen fields at every depth, if they have the same one. The policy is undefined if the chosen fields have different policies.
   */
  readonly policy: Policy | undefined;
  /** Whether at least one selected field has a value that is not in the row. */
  readonly needsReads: boolean;
  /**
   * D-163, D-394: selected names that the field set does not have, e.g. `cover`, or `owner{cover}` if the field set of a nested object does not have
   * it.
   */
  readonly leftOut: readonly string[];
}

/**
 * The cached projections of one field set, by profile and selection. When the garbage collector removes a selection, it removes the selection's
 * projection, too.
 */
interface Resolved {
  readonly strict: WeakMap<Selection, Projection>;
  readonly clients: WeakMap<Selection, Projection>;
}

const resolved = new WeakMap<FieldSet, Resolved>();
/** The key in the cache for a request without a selection, which gets the default fields. */
const DEFAULTS: Selection = new Map();

/** Says whether any node has a field with the given name. */
type IsField = (name: string) => boolean;

/**
 * Returns the projection of a selection, which says which fields the response has. If the field set does not have a selected field, throws
 * `invalidParameter` for the parameter `fields`, or `fieldUnavailable`.
 */
export function projectionOf(set: FieldSet, selection: Selection | undefined, profile: "strict" | "clients", isField: IsField): Projection {
  let ofSet = resolved.get(set);
  if (ofSet === undefined) {
    ofSet = { strict: new WeakMap(), clients: new WeakMap() };
    resolved.set(set, ofSet);
  }
  const key = selection ?? DEFAULTS;
  let projection = ofSet[profile].get(key);
  if (projection === undefined) {
    projection = resolve(set, selection, profile, isField);
    ofSet[profile].set(key, projection);
  }
  return projection;
}

function defaultsOf(set: FieldSet, profile: "strict" | "clients"): Selection {
  const names = (profile === "clients" ? set.clientsDefaults : undefined) ?? set.defaults;
  return new Map(names.map((name) => [name, undefined]));
}

/**
 * The selection with the default fields added, if one of its items asks for all default fields. D-33: the selection `page,page{id}` contains the
 * default fields of the page, too.
 */
function withDefaults(selection: Selection, defaults: Selection): Selection {
  const { names, isAlsoWhole } = named(selection);
  return isAlsoWhole ? (joined(defaults, names) as Selection) : names;
}

function resolve(set: FieldSet, given: Selection | undefined, profile: "strict" | "clients", isField: IsField): Projection {
  const selection = given === undefined ? defaultsOf(set, profile) : withDefaults(given, defaultsOf(set, profile));
  const served = Object.keys(set.fields).filter((name) => isServed(set.fields[name], profile));
  const chosen: Chosen[] = [];
  const leftOut: string[] = [];
  for (const [name, inner] of selection) {
    const field = Object.hasOwn(set.fields, name) ? set.fields[name] : undefined;
    if (field !== undefined && isServed(field, profile)) {
      const one = choose(name, field, inner, profile, isField);
      chosen.push(one);
      for (const within of one.inner?.leftOut ?? []) leftOut.push(`${name}{${within}}`);
    } else if (set.isExhaustive === true && isField(name)) throw fieldUnavailable(name);
    else leftOut.push(requireLeftOut(name, served, set.isExhaustive === true ? "strict" : profile));
  }
  // D-33, D-37: `id` and other required fields are in every response, whatever `fields` selects.
  for (const name of set.required ?? ["id"]) {
    const field = set.fields[name];
    if (field !== undefined && !selection.has(name)) chosen.push(choose(name, field, undefined, profile, isField));
  }
  return { chosen, isExplicit: given !== undefined, policy: onePolicyOf(chosen), needsReads: chosen.some(isMoreThanItsRow), leftOut };
}

const isServed = (field: Field | undefined, profile: "strict" | "clients"): boolean => field?.onlyIn === undefined || field.onlyIn === profile;

/**
 * D-163: called with a selected name that is not one of `served`. Returns the unknown name if the profile ignores unknown names. Throws
 * `invalidParameter` for the parameter `fields` if the profile refuses unknown names, or if the name looks misspelt.
 */
function requireLeftOut(name: string, served: readonly string[], profile: "strict" | "clients"): string {
  const meant = nearest(name, served);
  if (profile === "clients" && meant === undefined) return name;
  throw unknownField(name, meant);
}

function choose(name: string, field: Field, selection: Selection | undefined, profile: "strict" | "clients", isField: IsField): Chosen {
  const ofPart = setOfPart(field);
  if (ofPart !== undefined) {
    // A wrong field name is refused before anything is read or written, with the same error as in a separate read of the edge or reference.
    projectionOf(ofPart, selection, profile, isField);
    return { name, field, inner: undefined, keys: undefined, fieldsOfPart: selection && fieldsOfPart(field, ofPart, selection, profile) };
  }
  const inner = field.nested === undefined ? undefined : projectionOf(field.nested.set(), selection, profile, isField);
  const keys = inner === undefined && selection !== undefined ? keysOf(name, field.schema, selection, profile) : undefined;
  return { name, field, inner, keys, fieldsOfPart: undefined };
}

/** The parameter `fields` for an edge or a reference. D-38: without braces an edge shows its default fields, and a reference shows its id. */
const fieldsOfPart = ({ edge }: Field, ofPart: FieldSet, selection: Selection, profile: "strict" | "clients"): string =>
  selectionText(withDefaults(selection, edge === undefined ? new Map([["id", undefined]]) : defaultsOf(ofPart, profile)));

/** The field set of the nodes to which an edge or a reference leads. */
const setOfPart = ({ edge, reference }: Field): FieldSet | undefined => edge?.items ?? reference?.set?.();

/** Whether the field's value comes from a separate read with the caller's rights, which checks policies of its own. */
export const isPart = ({ edge, reference }: Field): boolean => edge !== undefined || reference !== undefined;

const isMoreThanItsRow = ({ field, keys }: Chosen): boolean =>
  field.nested !== undefined || field.load !== undefined || isPart(field) || keys !== undefined;

function onePolicyOf(chosen: readonly Chosen[]): Policy | undefined {
  const checked = chosen.filter(({ field }) => !isPart(field));
  const policy = checked[0]?.field.policy;
  return checked.every(({ field, inner }) => field.policy === policy && (inner === undefined || inner.policy === policy)) ? policy : undefined;
}

/** The keys of an object that the caller selected. A key whose value is undefined is selected with its whole value. */
export type Keys = ReadonlyMap<string, Keys | undefined>;

/**
 * The keys of an object that the caller selected. Undefined if the caller selected all keys. Throws `invalidParameter` for the parameter `fields` if
 * the schema does not have a selected name.
 */
export function keysOf(holder: string, schema: TSchema, selection: Selection, profile: "strict" | "clients"): Keys | undefined {
  const properties = propertiesOf(schema);
  if (properties === undefined) throw invalidParameter("fields", `selects fields of ${holder}, which has no fields`, { field: holder });
  const keys = new Map<string, Keys | undefined>();
  const { names, isAlsoWhole } = named(selection);
  for (const [name, inner] of names) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property === undefined) requireLeftOut(name, Object.keys(properties), profile);
    else keys.set(name, inner === undefined ? undefined : keysOf(name, property as TSchema, inner, profile));
  }
  // D-33: an object that has an id always shows the id.
  if (Object.hasOwn(properties, "id") && !keys.has("id")) keys.set("id", undefined);
  return isAlsoWhole ? undefined : keys;
}

/** The properties of an object's schema, or of the objects in a list's schema. */
const propertiesOf = (node: SchemaNode): SchemaNode["properties"] =>
  node.properties ?? (node.items === undefined ? undefined : propertiesOf(node.items));

/** Returns an object with only the selected keys, or a list whose objects have only these keys. */
export function valueWithin(value: unknown, keys: Keys): unknown {
  if (Array.isArray(value)) return value.map((element) => valueWithin(element, keys));
  if (typeof value !== "object" || value === null) return value;
  const kept: Record<string, unknown> = {};
  for (const [name, inner] of keys) {
    const found = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
    if (found !== undefined) kept[name] = inner === undefined ? found : valueWithin(found, inner);
  }
  return kept;
}
