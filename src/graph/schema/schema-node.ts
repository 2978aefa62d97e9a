/** The JSON Schema words that readers of requests and world files support. Other words are refused when a reader is made, at start. */
export interface SchemaNode {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly SchemaNode[];
  /** In code points. */
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  /** Of a text: a name of `formats.ts`. Without a type, `binary` is a file of multipart/form-data. */
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: SchemaNode;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  /** Applies to undeclared keys. If it is left out, the dialect decides. */
  readonly additionalProperties?: boolean | SchemaNode;
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  /** The value of a missing key. */
  readonly default?: unknown;
  /** The feature reads the value itself, because it is a large list or its errors name more than a parameter. */
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
  /** The name of a reader of the dialect, which replaces all other words. */
  readonly [READ_AS]?: string;
  readonly [REFERS_TO]?: RefersTo;
}

/** The possible node types of the id, and the key of the entry that names its owner. */
export interface RefersTo {
  readonly types: readonly string[];
  readonly ownerKey?: string | undefined;
}

/** The name of the node that a schema is a shape of, for documents. */
export const SHAPE_OF = "x-plaza-shape-of";

/** White space around the text does not count. */
export const TRIMMED = "x-plaza-trimmed";

/** The message for a wrong value, instead of the reader's own. */
export const PROBLEM = "x-plaza-problem";

/** The text, or each key of the object, is a name that only a registry or a calendar knows. */
export const NAMES_OF = "x-plaza-names-of";

/** Only this profile takes the alternative. */
export const ONLY_IN = "x-plaza-only-in";

/** The values have a reader of their own: ids and times of world files. */
export const READ_AS = "x-plaza-read-as";

/** The nodes that an id of a world file may refer to. */
export const REFERS_TO = "x-plaza-refers-to";

const objectWords = ["if", "then", "else", "not", "dependentRequired"];

const words = new Set([
  ...objectWords,
  ..."type enum const anyOf minLength maxLength pattern format minimum maximum minItems maxItems items properties required".split(" "),
  ..."additionalProperties patternProperties default description title examples x-plaza-raw".split(" "),
  ...[READ_AS, REFERS_TO, TRIMMED, PROBLEM, NAMES_OF, ONLY_IN, SHAPE_OF],
]);

/** Throws an ordinary `Error` if no reader knows a word, because nothing would check that part of the contract. */
export function checkWords(node: SchemaNode): void {
  for (const word of Object.keys(node))
    if (!words.has(word) || (node.type !== "object" && objectWords.includes(word))) throw new Error(`no value is read by the schema word ${word}`);
}

/** A text that is not empty after white space around it is removed. */
export const filledText = (maxLength: number) => ({ minLength: 1, maxLength, [TRIMMED]: true }) as const;

/** An object that has these keys. `properties` lists them too, for tools that look for each key there. */
export const having = (...names: readonly string[]) => ({ required: names, properties: Object.fromEntries(names.map((name) => [name, {}])) });

/** The profile for which a value is read or documented, and the names that a schema refers to. */
export interface ServedIn {
  readonly profile: "strict" | "clients";
  /** `what` is the value of `x-plaza-names-of`. */
  namesOf(what: string): readonly string[];
}

/** World files and the control API are read the same in every profile. */
export const everywhere: ServedIn = { profile: "strict", namesOf: () => [] };
