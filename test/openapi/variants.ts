/** Makes variants that differ from a value in one nested value, which is at the limits of its schema or just beyond them. */
export type Json = Readonly<Record<string, unknown>>;

export interface Variant {
  /** The path of the changed value, e.g. `message.text`. */
  readonly place: string;
  /** The changed value; undefined if the variant leaves the value out. */
  readonly value: unknown;
  readonly params: Json;
}

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly prefixItems?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** `document` contains the components to which `$ref` refers. */
export function variantsOf(params: Json, document: Json, schema: object): Variant[] {
  const resolved = (one: Schema): Schema => {
    if (one.$ref === undefined) return one;
    const steps = one.$ref.replace(/^.*#\//, "").split("/");
    return resolved(steps.reduce((at: unknown, step) => (at as Json)[step], document) as Schema);
  };
  const found: Variant[] = [];
  const visit = (given: Schema, value: unknown, place: string, put: (value: unknown) => Json): void => {
    const schema = resolved(given);
    for (const one of valuesFor(schema, value)) found.push({ place, value: one, params: put(one) });
    for (const choice of schema.anyOf ?? []) visit(choice, value, place, put);
    if (isObject(value)) {
      const declared = schema.properties ?? {};
      if (schema.properties !== undefined || schema.type === "object") {
        found.push({ place: `${place}.unheard_of`, value: 1, params: put({ ...value, unheard_of: 1 }) });
        for (const [name, inner] of Object.entries(declared)) {
          const { [name]: own, ...others } = value;
          if (own !== undefined) found.push({ place: `${place}.${name}`, value: undefined, params: put(others) });
          visit(inner, own, `${place}.${name}`, (next) => put({ ...value, [name]: next }));
        }
      }
    } else if (Array.isArray(value) && schema.items !== undefined) {
      const { items, prefixItems = [] } = schema;
      for (const [at, item] of [...prefixItems, items].entries())
        if (at < value.length) visit(item, value[at], `${place}[${at}]`, (next) => put(value.with(at, next)));
    }
  };
  visit(schema as Schema, params, "", (value) => value as Json);
  return found.filter(({ place }) => place !== "").map((one) => ({ ...one, place: one.place.slice(1) }));
}

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);

const VALUES_MAX = 3;

function valuesFor(schema: Schema, value: unknown): unknown[] {
  const { type, enum: allowed, minLength, maxLength, minimum, maximum, maxItems } = schema;
  if (allowed !== undefined) return [...allowed.slice(0, VALUES_MAX), allowed.at(-1), "unheard_of"];
  switch (type) {
    case "string":
      return [
        ...(minLength === undefined ? [] : ["", " "]),
        ...(maxLength === undefined ? [] : [fit(value, maxLength), fit(value, maxLength + 1)]),
        {},
        [],
      ];
    case "integer":
      return [...(minimum === undefined ? [] : [minimum, minimum - 1]), ...(maximum === undefined ? [] : [maximum, maximum + 1]), 1.5, "some"];
    case "number":
      return [...(minimum === undefined ? [] : [minimum, minimum - 0.5]), ...(maximum === undefined ? [] : [maximum, maximum + 0.5]), "some"];
    case "boolean":
      return [true, false, "perhaps"];
    case "null":
      return ["some", true];
    case "array": {
      const item = Array.isArray(value) ? value[0] : undefined;
      const full = maxItems === undefined || item === undefined ? [] : [Array(maxItems).fill(item), Array(maxItems + 1).fill(item)];
      return [[], ...full, {}];
    }
    case "object":
      return ["some", []];
    default:
      return [];
  }
}

/** Makes a text of the given length that begins like the value and ends with `x`, or only with the beginning of the value. */
const fit = (value: unknown, length: number): string => (typeof value === "string" ? value : "x").padEnd(length, "x").slice(0, length);
