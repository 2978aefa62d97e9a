/** What documents say of values that several features check themselves. */
import { ASKED } from "./schema-node.ts";

/** An id of a node. */
export const idText = { pattern: "^[1-9][0-9]{0,18}$" } as const;

/** What is left of it without white space around it counts. */
export const filledText = (maxLength: number) => ({ minLength: 1, maxLength, pattern: "\\S" }) as const;

export const webAddress = { minLength: 1, format: "uri", pattern: "^[Hh][Tt][Tt][Pp][Ss]?://" } as const;

/** Null is a parameter that is left out (D-34). */
export const neverGiven = { type: "null" } as const;

/** An object that has these keys, in words that also those understand who ask what each key is. */
export const having = (...names: readonly string[]) => ({ required: names, properties: Object.fromEntries(names.map((name) => [name, {}])) });

export const asked = (words: object): { readonly [ASKED]: object } => ({ [ASKED]: words });
