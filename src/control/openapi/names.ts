/** Names of the document's components. */
import type { PlainSchema } from "#graph/schema/public-schema";

export const schemaRef = (name: string): PlainSchema => ({ $ref: `#/components/schemas/${name}` });

/** An entry as it is sent; as it is returned it has the key's own name. */
export const entryName = (key: string): string => `${key}_entry`;
