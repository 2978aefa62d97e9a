/**
 * The keywords of JSON Schema that the readers of requests and world files support. If a schema has an unsupported keyword, making its reader fails
 * when the server starts.
 */
export interface SchemaNode {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly SchemaNode[];
  /** The shortest length of a text, in code points. */
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  /** For a text, `format` is the name of a format in `formats.ts`. In a schema without a type, `binary` describes a file of multipart/form-data. */
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: SchemaNode;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  /**
   * The schema of an object's undeclared keys, or whether undeclared keys are allowed. If this keyword is absent, the dialect (request or world file)
   * decides whether undeclared keys are allowed.
   */
  readonly additionalProperties?: boolean | SchemaNode;
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  /** The value that a missing key gets. */
  readonly default?: unknown;
  /** Set if the feature reads the value with its own code, because the value is a large list or because the feature's errors are more exact. */
  readonly "x-plaza-raw"?: boolean;
  /** Rules about several keys of an object (`rules.ts`). */
  readonly if?: SchemaNode;
  readonly then?: SchemaNode;
  readonly else?: SchemaNode;
  readonly not?: SchemaNode;
  readonly dependentRequired?: Readonly<Record<string, readonly string[]>>;
  readonly [TRIMMED]?: true;
  readonly [PROBLEM]?: string;
  readonly [NAMES_OF]?: string;
  readonly [ONLY_IN]?: ServedIn["profile"];
  /** The name of one of the readers of the dialect (request or world file). The dialect's reader then replaces all other keywords of the schema. */
  readonly [READ_AS]?: string;
  readonly [REFERS_TO]?: RefersTo;
}

/** The node types to which the id may belong, and the key of the world file's entry that has the id of the node's owner. */
export interface RefersTo {
  readonly types: readonly string[];
  readonly ownerKey?: string | undefined;
}

/** The keyword for the name of the node that the schema describes. Only OpenAPI documents use the name of the node. */
export const SHAPE_OF = "x-plaza-shape-of";

/** The keyword for a text whose white space at both ends is removed. */
export const TRIMMED = "x-plaza-trimmed";

/** The keyword for the error message about a wrong value, or about keys that `not` excludes. The message replaces the reader's own message. */
export const PROBLEM = "x-plaza-problem";

/**
 * The keyword for names that only a registry or a calendar knows. The names from the registry or calendar are the allowed texts, or the allowed keys
 * of an object.
 */
export const NAMES_OF = "x-plaza-names-of";

/** The keyword for an alternative that only one profile accepts. The value of this keyword is the profile. */
export const ONLY_IN = "x-plaza-only-in";

/** The keyword for the name of another reader, e.g. the reader of ids or times in world files. */
export const READ_AS = "x-plaza-read-as";

/** The keyword for the nodes to which an id in a world file may refer. */
export const REFERS_TO = "x-plaza-refers-to";

const objectWords = ["if", "then", "else", "not", "dependentRequired"];

const words = new Set([
  ...objectWords,
  ..."type enum const anyOf minLength maxLength pattern format minimum maximum minItems maxItems items properties required".split(" "),
  ..."additionalProperties patternProperties default description title examples x-plaza-raw".split(" "),
  ...[READ_AS, REFERS_TO, TRIMMED, PROBLEM, NAMES_OF, ONLY_IN, SHAPE_OF],
]);

/**
 * Checks that readers support all keywords of a schema. Throws an ordinary `Error` for a keyword that no reader supports, because nothing would check
 * that rule of the contract.
 */
export function checkWords(node: SchemaNode): void {
  for (const word of Object.keys(node))
    if (!words.has(word) || (node.type !== "object" && objectWords.includes(word))) throw new Error(`no value is read by the schema word ${word}`);
}

/** The schema of a text that must not be empty after the white space at both ends is removed. */
export const filledText = (maxLength: number) => ({ minLength: 1, maxLength, [TRIMMED]: true }) as const;

/** The schema of an object that must have the given keys. `properties` lists the required keys, too, because some tools look for each key there. */
export const having = (...names: readonly string[]) => ({ required: names, properties: Object.fromEntries(names.map((name) => [name, {}])) });

/** The profile for which a value is read or documented, and the names to which a schema refers. */
export interface ServedIn {
  readonly profile: "strict" | "clients";
  /** Returns the names that are allowed at the moment. `what` is the value of the keyword `x-plaza-names-of`. */
  namesOf(what: string): readonly string[];
}

/**
 * The profile for reading world files and requests of the control API. World files and requests of the control API are read in the same way in every
 * profile.
 */
export const everywhere: ServedIn = { profile: "strict", namesOf: () => [] };
