import type { Access, FieldSet } from "#graph/contract/operation";

/** Describes a JSON Schema in a few words. */
export interface Schema {
  readonly type?: string;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly default?: unknown;
  readonly description?: string;
  readonly "x-plaza-read-as"?: string;
}

export function schemaText(schema: Schema): string {
  const readAs = schema["x-plaza-read-as"];
  if (readAs !== undefined) return readAs === "id" ? "id" : "time";
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
  if (schema.type === "object") return objectText(schema);
  if (schema.anyOf !== undefined) return schema.anyOf.map(schemaText).join(" or ");
  if (schema.type === "array") return `array of ${schemaText(schema.items ?? {})}`;
  return [schema.type ?? "any", ...limits(schema)].join(", ");
}

/** Describes an object by its keys and by the keys of its inner objects, as `{id, data{a, b?}}`. */
function objectText(schema: Schema): string {
  const names = propertiesOf(schema).map(({ name, schema: inner, isRequired }) => {
    const shown = inner.type === "object" ? name + objectText(inner) : name;
    return isRequired ? shown : `${shown}?`;
  });
  return `{${names.join(", ")}}`;
}

function limits({ minLength, maxLength, minimum, maximum, pattern }: Schema): string[] {
  const found: string[] = [];
  if (minLength === 1) found.push("not empty");
  else if (minLength !== undefined) found.push(`at least ${minLength} characters`);
  if (maxLength !== undefined) found.push(`at most ${maxLength} characters`);
  if (minimum !== undefined) found.push(`from ${minimum}`);
  if (maximum !== undefined) found.push(`up to ${maximum}`);
  if (pattern !== undefined) found.push(`like ${pattern}`);
  return found;
}

export interface Property {
  readonly name: string;
  readonly schema: Schema;
  /** Whether a sender must include the key in an object. A sender may leave out a key that has a default. */
  readonly isRequired: boolean;
}

export const propertiesOf = ({ properties, required }: Schema): Property[] =>
  Object.entries(properties ?? {}).map(([name, schema]) => ({
    name,
    schema,
    isRequired: required?.includes(name) === true && schema.default === undefined,
  }));

/** The text about the versions in which an operation is served. */
export const versionsText: Readonly<Record<Access["versions"], string>> = {
  platform: "v20.0 to v26.0, or none",
  migrationIntents: "v23.0 to v25.0, required",
  unversioned: "no version in the path",
  marketing: "marketing versions, required",
  marketingOrCurrent: "marketing versions, or none",
};

/** Describes the fields that a response can have, and the fields that the response has if the request has no parameter `fields`. */
export function fieldsText(set: FieldSet): string {
  const { fields, defaults } = set;
  const inStrict = Object.entries(fields).filter(([, { onlyIn }]) => onlyIn === undefined);
  const inClients = Object.entries(fields).filter(([, { onlyIn }]) => onlyIn === "clients");
  const more = inClients.length === 0 ? "" : `; with the profile \`clients\` also ${codes(inClients.map(([name]) => name))}`;
  return `${codes(inStrict.map(([name]) => name))} (by default ${codes(defaults)}${more})`;
}

const codes = (texts: readonly string[]): string => texts.map((text) => `\`${text}\``).join(", ");
