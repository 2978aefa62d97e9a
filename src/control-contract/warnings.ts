/** What was done, but is probably not what was meant. */
import { Type } from "typebox";

export const warnings = Type.Optional(Type.Array(Type.String(), { description: "what may not be what you meant, e.g. a misspelt scope" }));

/** The key of a response; absent where there are none. */
export const warningsOf = (found: readonly string[]): { warnings?: readonly string[] } => (found.length === 0 ? {} : { warnings: found });
