/** Writes the schemas of contracts with standard keywords of JSON Schema, for OpenAPI documents. */
import { type Format, findFormat } from "./formats.ts";
import { NAMES_OF, ONLY_IN, PROBLEM, READ_AS, REFERS_TO, type ServedIn, SHAPE_OF, TRIMMED } from "./schema-node.ts";

export type PlainSchema = Record<string, unknown>;

const ownWords: ReadonlySet<string> = new Set(["x-plaza-raw", READ_AS, REFERS_TO, TRIMMED, PROBLEM, NAMES_OF, ONLY_IN]);

/** The same schema with only standard keywords of JSON Schema. In the standard schema, a choice of constants becomes an `enum`. */
export const publicSchema = (schema: unknown): PlainSchema => plain(schema, (one) => one);

/**
 * The schema of a parameter of the graph. A parameter's key with a default is optional. A file becomes a binary string in the schema, as code
 * generators expect.
 */
export const requestSchema = (schema: unknown, where: ServedIn): PlainSchema =>
  plain(
    schema,
    (given) => {
      const one = withNames(inProfile(given, where), where);
      return withDefaults(isFile(one) ? { type: "string", ...one } : inOneForm(one, { id: { type: "string", pattern: ID } }));
    },
    ({ requestWords, words }) => requestWords ?? words,
  );

/** The schema without the names of nodes that its objects describe, for readers who see only this schema. */
export const withoutShapes = (schema: PlainSchema): PlainSchema =>
  JSON.parse(JSON.stringify(schema, (word, value) => (word === SHAPE_OF ? undefined : value)));

/** The schema with only the alternatives that the given profile accepts. Several lists of allowed texts in the schema become one list. */
function inProfile(schema: PlainSchema, where: ServedIn): PlainSchema {
  const { anyOf, ...rest } = schema as { anyOf?: readonly PlainSchema[] };
  if (anyOf === undefined) return schema;
  const served = anyOf
    .filter(({ [ONLY_IN]: only }) => only === undefined || only === where.profile)
    .map(({ [ONLY_IN]: _, ...one }) => withNames(one, where));
  const texts = served.flatMap(({ type, enum: values }) => (type === "string" && Array.isArray(values) ? [values as string[]] : []));
  if (texts.length > 0 && texts.length === served.length) return { ...rest, type: "string", enum: [...new Set(texts.flat())] };
  return served.length === 1 ? { ...rest, ...served[0] } : { ...rest, anyOf: served };
}

function withNames({ [NAMES_OF]: what, ...schema }: PlainSchema, { namesOf }: ServedIn): PlainSchema {
  if (typeof what !== "string") return schema;
  const names = namesOf(what);
  if (schema.type !== "object") return { ...schema, enum: names };
  return { ...schema, properties: Object.fromEntries(names.map((name) => [name, schema.additionalProperties])), additionalProperties: false };
}

/** Whether the schema describes a file of multipart/form-data. OpenAPI documents do not list files among the ordinary parameters. */
export const isFile = (schema: PlainSchema): boolean => schema.format === "binary";

/**
 * The schema of JSON that a caller sends to the control API. In JSON for the control API, a key with a default is optional, and null means that the
 * key is left out.
 */
export const sentSchema = (schema: unknown): PlainSchema => plain(schema, (one) => withOptionalKeys(inSafeRange(withoutRules(one))));

/** D-278: removes rules about several keys from a schema, because generators cannot use them. */
function withoutRules({ if: _, then: __, else: ___, not: ____, dependentRequired: _____, ...schema }: PlainSchema): PlainSchema {
  const { anyOf, ...rest } = schema;
  return schema.type === "object" && anyOf !== undefined ? rest : schema;
}

/**
 * The schema of a response. A request may write ids and times in several forms, but a response always has one form. Rules about requests are left out
 * of the schema of a response.
 */
export const returnedSchema = (schema: unknown): PlainSchema =>
  plain(
    schema,
    (one) => inOneForm(one, { id: { type: "string", pattern: ID }, time: { type: "integer", minimum: 0 } }),
    () => ({}),
  );

function plain(schema: unknown, change: (schema: PlainSchema) => PlainSchema, wordsOf = ({ words }: Format): object => words): PlainSchema {
  const replaced = (value: unknown): unknown => (isSchema(value) ? withEnum(withValues(change(inWords(value, wordsOf)))) : value);
  return JSON.parse(JSON.stringify(schema, (word, value) => (ownWords.has(word) ? undefined : replaced(value)))) as PlainSchema;
}

/** Adds standard keywords to the schema of a text that is trimmed or has one of Plaza's own formats. */
function inWords(schema: PlainSchema, wordsOf: (format: Format) => object): PlainSchema {
  const { format: name, [TRIMMED]: isTrimmed, ...rest } = schema;
  const format = typeof name === "string" && [schema.type].flat().includes("string") ? findFormat(name) : undefined;
  if (format !== undefined) return { ...wordsOf(format), ...rest };
  return isTrimmed === true && rest.minLength === 1 ? { ...rest, pattern: "\\S" } : schema;
}

const isSchema = (value: unknown): value is PlainSchema => typeof value === "object" && value !== null && !Array.isArray(value);

function withEnum(schema: PlainSchema): PlainSchema {
  const { anyOf = [], ...rest } = schema as { anyOf?: readonly { readonly const?: unknown; readonly type?: string }[] };
  const types = new Set(anyOf.map(({ const: constant }) => typeof constant));
  const [type] = types;
  if (types.size !== 1 || (type !== "string" && type !== "number" && type !== "boolean")) return schema;
  return { ...rest, type: anyOf[0]?.type ?? type, enum: anyOf.map(({ const: constant }) => constant) };
}

/** A pattern (regular expression) that matches every key. */
const ANY_KEY = "^.*$";

/** Describes a map with `additionalProperties`, because generators support this keyword. */
function withValues(schema: PlainSchema): PlainSchema {
  const { patternProperties, ...rest } = schema as { patternProperties?: PlainSchema };
  const values = patternProperties?.[ANY_KEY];
  return values === undefined ? schema : { ...rest, additionalProperties: values };
}

/** Adds the limits of safe integers to the schema of a number. Larger numbers in JSON may lose digits, so the readers of requests refuse them. */
function inSafeRange(schema: PlainSchema): PlainSchema {
  if (![schema.type].flat().includes("integer")) return schema;
  const { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = schema;
  return { ...schema, minimum, maximum };
}

function withDefaults(schema: PlainSchema): PlainSchema {
  const { properties, required } = schema as { properties?: Record<string, PlainSchema>; required?: readonly string[] };
  if (properties === undefined || required === undefined) return schema;
  const needed = required.filter((key) => properties[key]?.default === undefined);
  return { ...schema, required: needed.length === 0 ? undefined : needed };
}

function withOptionalKeys(given: PlainSchema): PlainSchema {
  const schema = withDefaults(given);
  const { properties, required: needed = [] } = schema as { properties?: Record<string, PlainSchema>; required?: readonly string[] };
  if (properties === undefined) return schema;
  const optional = Object.entries(properties).map(([key, one]) => [key, needed.includes(key) ? one : orNull(withEnum(withoutObject(one)))]);
  return { ...schema, properties: Object.fromEntries(optional) };
}

/** Removes a default that is an object, because generators for Python do not support such a default. */
const withoutObject = ({ default: fallback, ...schema }: PlainSchema): PlainSchema =>
  fallback === undefined || isSchema(fallback) ? schema : { ...schema, default: fallback };

function orNull(schema: PlainSchema): PlainSchema {
  const { type, anyOf, enum: values } = schema;
  if (schema.const !== undefined) return { anyOf: [schema, { type: "null" }] };
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, { type: "null" }] };
  return {
    ...schema,
    ...(typeof type === "string" ? { type: [type, "null"] } : {}),
    ...(Array.isArray(values) ? { enum: [...values, null] } : {}),
  };
}

const ID = "^[1-9][0-9]{0,18}$";

function inOneForm(schema: PlainSchema, forms: Readonly<Record<string, PlainSchema>>): PlainSchema {
  const form = forms[String(schema[READ_AS])];
  if (form === undefined) return schema;
  return typeof schema.description === "string" ? { ...form, description: schema.description } : form;
}
