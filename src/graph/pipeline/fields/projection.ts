/** The fields of a response, in the step `respond` (D-33, D-37). */
import type { Policy } from "#auth/policy";
import { fieldUnavailable, invalidParameter } from "#kernel/errors";
import type { Selection } from "#kernel/selection";
import type { Reader } from "#storage/database";
import type { Row } from "#storage/sql";
import type { Field, FieldSet, ReadRequest } from "../../contract/operation.ts";

interface Chosen {
  readonly name: string;
  readonly field: Field;
  readonly inner: Projection | undefined;
}

/** A selection resolved against a field set: made once per request, used for each row. */
export interface Projection {
  readonly chosen: readonly Chosen[];
  /** The caller named the fields. */
  readonly isAsked: boolean;
  /** The policy of all that is chosen, at every depth; undefined where there is more than one. */
  readonly policy: Policy | undefined;
  /** Some field needs another read of the database. */
  readonly needsReads: boolean;
}

/** Of one field set: what selections resolve to in each profile. Dropping a selection drops its projection. */
interface Resolved {
  readonly strict: WeakMap<Selection, Projection>;
  readonly clients: WeakMap<Selection, Projection>;
}

const resolved = new WeakMap<FieldSet, Resolved>();
/** Stands for no selection: the default fields. */
const DEFAULTS: Selection = new Map();

/** Whether any node has a field of that name. */
type IsField = (name: string) => boolean;

/** Throws `invalidParameter` naming `fields`, or `fieldUnavailable`, for a field that the set does not have. */
export function projectionOf(set: FieldSet, selection: Selection | undefined, profile: "strict" | "clients", isField: IsField): Projection {
  let ofSet = resolved.get(set);
  if (ofSet === undefined) {
    ofSet = { strict: new WeakMap(), clients: new WeakMap() };
    resolved.set(set, ofSet);
  }
  const key = selection ?? DEFAULTS;
  let projection = ofSet[profile].get(key);
  if (projection === undefined) {
    projection = resolve(set, selection ?? defaultsOf(set, profile), profile, selection !== undefined, isField);
    ofSet[profile].set(key, projection);
  }
  return projection;
}

function defaultsOf(set: FieldSet, profile: "strict" | "clients"): Selection {
  const names = (profile === "clients" ? set.clientsDefaults : undefined) ?? set.defaults;
  return new Map(names.map((name) => [name, undefined]));
}

function resolve(set: FieldSet, selection: Selection, profile: "strict" | "clients", isAsked: boolean, isField: IsField): Projection {
  const chosen: Chosen[] = [];
  for (const [name, inner] of selection) {
    const field = Object.hasOwn(set.fields, name) ? set.fields[name] : undefined;
    if (field === undefined || (field.onlyIn !== undefined && field.onlyIn !== profile)) {
      if (set.isExhaustive === true && isField(name)) throw fieldUnavailable(name);
      throw invalidParameter("fields", `names a field that does not exist: ${name}`, { field: name });
    }
    if (inner !== undefined && field.nested === undefined) {
      throw invalidParameter("fields", `selects inside ${name}, which has no fields of its own`, { field: name });
    }
    chosen.push({ name, field, inner: field.nested === undefined ? undefined : projectionOf(field.nested.set(), inner, profile, isField) });
  }
  // D-33, D-37: `id`, and what the interface marks required, is in every response, whatever `fields` asks for.
  for (const name of set.required ?? ["id"]) {
    const field = set.fields[name];
    if (field !== undefined && !selection.has(name)) chosen.push({ name, field, inner: undefined });
  }
  return {
    chosen,
    isAsked,
    policy: onePolicyOf(chosen),
    needsReads: chosen.some(({ field }) => field.nested !== undefined || field.load !== undefined),
  };
}

function onePolicyOf(chosen: readonly Chosen[]): Policy | undefined {
  const policy = chosen[0]?.field.policy;
  return chosen.every(({ field, inner }) => field.policy === policy && (inner === undefined || inner.policy === policy)) ? policy : undefined;
}

/** For projections without reads: the hot path, no promise. */
export function projectRow(row: Row, { chosen }: Projection): Record<string, unknown> {
  const response: Record<string, unknown> = {};
  for (const { name, field } of chosen) {
    const value = field.of === undefined ? row[name] : field.of(row);
    if (value !== undefined && value !== null) response[name] = value;
  }
  return response;
}

export async function projectRowWithReads(request: ReadRequest, reader: Reader, row: Row, { chosen }: Projection): Promise<Record<string, unknown>> {
  const response: Record<string, unknown> = {};
  for (const { name, field, inner } of chosen) {
    let value: unknown;
    if (field.nested !== undefined && inner !== undefined) {
      const nested = await field.nested.load(request, reader, row);
      value = nested === undefined ? undefined : await projectRowWithReads(request, reader, nested, inner);
    } else if (field.load !== undefined) value = await field.load(request, reader, row);
    else value = field.of === undefined ? row[name] : field.of(row);
    if (value !== undefined && value !== null) response[name] = value;
  }
  return response;
}
