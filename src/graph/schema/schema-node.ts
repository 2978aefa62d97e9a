/**
 * The words of JSON Schema that the readers of requests and world files support. Other words are refused when a reader is made, at the start of the
 * server.
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
  /** For a text, the name of a format in `formats.ts`. In a schema without a type, `binary` means a file of multipart/form-data. */
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: SchemaNode;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  /** The schema of undeclared keys, or whether such keys are allowed. If this is left out, the dialect decides. */
  readonly additionalProperties?: boolean | SchemaNode;
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  /** The value that is used if the key is missing. */
  readonly default?: unknown;
  /** The feature reads the value itself, because the value is a large list or its errors name more than a parameter. */
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
  /** The name of one of the dialect's readers, which then replaces all other words. */
  readonly [READ_AS]?: string;
  readonly [REFERS_TO]?: RefersTo;
}

/** The node types that the id may belong to, and the key of the entry that has the id of the node's owner. */
export interface RefersTo {
  readonly types: readonly string[];
  readonly ownerKey?: string | undefined;
}

/** The word whose value is the name of the node that the schema is a shape of. Only documents use the word. */
export const SHAPE_OF = "x-plaza-shape-of";

/** The word for a text in which white space around the text does not count. */
export const TRIMMED = "x-plaza-trimmed";

/** The word whose value is the message for a wrong value, instead of the reader's own message. */
export const PROBLEM = "x-plaza-problem";

/** The word that says which names a text, or the keys of an object, may have, if only a registry or a calendar knows these names. */
export const NAMES_OF = "x-plaza-names-of";

/** The word whose value is the only profile that accepts the alternative. */
export const ONLY_IN = "x-plaza-only-in";

/** The word whose value is the name of another reader for the value: ids and times of world files. */
export const READ_AS = "x-plaza-read-as";

/** The word whose value are the nodes to which an id of a world file may refer. */
export const REFERS_TO = "x-plaza-refers-to";

const objectWords = ["if", "then", "else", "not", "dependentRequired"];

const words = new Set([
  ...objectWords,
  ..."type enum const anyOf minLength maxLength pattern format minimum maximum minItems maxItems items properties required".split(" "),
  ..."additionalProperties patternProperties default description title examples x-plaza-raw".split(" "),
  ...[READ_AS, REFERS_TO, TRIMMED, PROBLEM, NAMES_OF, ONLY_IN, SHAPE_OF],
]);

/** Checks the words of a schema. Throws an ordinary `Error` if no reader knows a word, because that part of the contract would not be checked. */
export function checkWords(node: SchemaNode): void {
  for (const word of Object.keys(node))
    if (!words.has(word) || (node.type !== "object" && objectWords.includes(word))) throw new Error(`no value is read by the schema word ${word}`);
}

/** A text that is not empty after the white space around it is removed. */
export const filledText = (maxLength: number) => ({ minLength: 1, maxLength, [TRIMMED]: true }) as const;

/** The schema of an object that has these keys. `properties` lists the keys, too, for tools that look for each key there. */
export const having = (...names: readonly string[]) => ({ required: names, properties: Object.fromEntries(names.map((name) => [name, {}])) });

/** The profile for which a value is read or documented, and the names that a schema refers to. */
export interface ServedIn {
  readonly profile: "strict" | "clients";
  /** The names that are allowed now. `what` is the value of `x-plaza-names-of`. */
  namesOf(what: string): readonly string[];
}

/** The profile for world files and the control API, which are read the same in every profile. */
export const everywhere: ServedIn = { profile: "strict", namesOf: () => [] };
