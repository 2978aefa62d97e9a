/** The named schemas of an OpenAPI document. Named schemas are the schemas of contracts, without the keywords that only Plaza uses. */
import { Type } from "typebox";
import { publicSchema } from "../../schema/public-schema.ts";
import { SHAPE_OF } from "../../schema/schema-node.ts";
import type { Profile } from "../../worlds/world.ts";
import { pascal } from "./addresses.ts";

export type Document = Record<string, unknown>;

const REFERENCE = /"#\/components\/schemas\/(\w+)"/g;

const schemaRef = (name: string): Document => ({ $ref: `#/components/schemas/${name}` });

/**
 * Collects the schemas of an OpenAPI document by name. Inside another schema, a named schema becomes a reference. Equal schemas share one name,
 * unless they describe different nodes: a page with an id and a name is not a user. A node's schema that has no name gets the name of its node type.
 */
export class NamedSchemas {
  readonly #names = new Map<string, string>();
  readonly #schemas = new Map<string, Document>();

  /**
   * Adds a schema to the document, and returns a reference to the schema. If an equal schema was added before, the result refers to that earlier
   * schema.
   */
  add(name: string, schema: Document): Document {
    const text = JSON.stringify(schema);
    const known = this.#names.get(text);
    if (known !== undefined) return schemaRef(known);
    if (this.#schemas.has(name)) throw new Error(`two schemas of the document are called ${name}`);
    this.#names.set(text, name);
    this.#schemas.set(name, schema);
    return schemaRef(name);
  }

  /**
   * All schemas sorted by name, except that a schema comes after those to which it refers, because some generators lose schemas that come too early.
   */
  all(): Document {
    const entries = new Map<string, unknown>();
    // The loop also visits the entries that are added inside the loop when a schema gets a name.
    for (const [name, schema] of this.#schemas) entries.set(name, this.#inside(schema));
    const ordered: Document = {};
    const visit = (name: string): void => {
      if (name in ordered) return;
      const schema = entries.get(name);
      for (const [, other = ""] of JSON.stringify(schema).matchAll(REFERENCE)) if (other !== name) visit(other);
      ordered[name] = schema;
    };
    for (const name of [...entries.keys()].sort()) visit(name);
    return ordered;
  }

  /** The schema as a document shows it outside of its list of named schemas, with references to the named schemas inside it. */
  referred(schema: Document): Document {
    return this.#referred(schema) as Document;
  }

  #inside(value: object): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#referred(item));
    return Object.fromEntries(Object.entries(value).flatMap(([key, inner]) => (key === SHAPE_OF ? [] : [[key, this.#referred(inner)]])));
  }

  #referred(value: unknown): unknown {
    if (typeof value !== "object" || value === null) return value;
    const node = (value as Document)[SHAPE_OF];
    if (typeof node === "string") {
      const { description, ...shape } = value as Document;
      return { ...this.add(pascal(node), shape), ...(description === undefined ? {} : { description }) };
    }
    // Only schemas with the keyword `properties` or `anyOf` have names. For a schema without these keywords, making the text for the lookup would be
    // wasted work.
    const name = "properties" in value || "anyOf" in value ? this.#names.get(JSON.stringify(value)) : undefined;
    return name === undefined ? this.#inside(value) : schemaRef(name);
  }
}

const closed = { additionalProperties: false };

const errorProperties = {
  message: Type.String(),
  type: Type.Unsafe({ type: "string", enum: ["OAuthException", "GraphMethodException"] }),
  code: Type.Integer(),
  error_subcode: Type.Optional(Type.Integer()),
  is_transient: Type.Boolean({ description: "Whether the same request may succeed later." }),
  error_data: Type.Optional(Type.Object({}, { description: "Facts about the error, such as the parameter that is wrong." })),
  error_user_title: Type.Optional(Type.String()),
  error_user_msg: Type.Optional(Type.String()),
  pftrace_id: Type.String({ description: "The same value as in the header x-pf-trace-id." }),
};

/** D-20: the two forms of errors. In the profile `clients` an error in the flat form also has the wrapped form inside it. */
export function errorSchemas(profile: Profile): Readonly<Record<"flat" | "wrapped", { readonly name: string; readonly schema: Document }>> {
  const error = Type.Object(errorProperties, closed);
  const flat = profile === "clients" ? Type.Object({ ...errorProperties, error }, closed) : error;
  return {
    flat: { name: "FlatError", schema: publicSchema(flat) },
    wrapped: { name: "WrappedError", schema: publicSchema(Type.Object({ error }, closed)) },
  };
}
