/** The kinds of nodes, from the OpenAPI document of the control API. */

/** A node in the form that a world file has. */
export type Entry = Readonly<Record<string, unknown>>;

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly default?: unknown;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

export interface Document {
  readonly paths: Readonly<
    Record<string, { readonly post?: { readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> } } }>
  >;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export interface Kind {
  readonly name: string;
  /** The keys of a node, in the order of a world file. */
  readonly keys: readonly string[];
  /** The schema of the request body that creates a node. */
  readonly create: Schema;
}

/** The kinds of nodes in the document of the control API. */
export const kindsIn = ({ paths, components: { schemas } }: Document): readonly Kind[] =>
  Object.keys(paths)
    .flatMap((path) => /^\/v1\/worlds\/\{w\}\/nodes\/(\w+)\/\{id\}$/.exec(path)?.[1] ?? [])
    .sort()
    .map((name) => {
      const body = paths[`/v1/worlds/{w}/nodes/${name}`]?.post?.requestBody?.content["application/json"]?.schema ?? {};
      // If a kind of node has no id of its own, the request body is the node itself.
      return { name, keys: Object.keys(schemas[name]?.properties ?? {}), create: body.$ref === undefined ? body : (schemas[name] ?? body) };
    });

/** The kind of node that a key of another node refers to: the key `page` refers to one of `pages`. */
export const kindNamedBy = (key: string, kinds: readonly string[]): string | undefined =>
  kinds.find((kind) => kind === `${key}s` || kind === key.replace(/y$/, "ies"));
