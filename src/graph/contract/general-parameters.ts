/** What every operation takes: credentials, and what says how a request is served or a response shown, but not of what (D-50, D-57). */
export const parametersOfAll: ReadonlySet<string> = new Set([
  ...["access_token", "oauth_token", "appsecret_proof", "method", "metadata", "debug", "migrations_override", "pretty", "locale"],
]);

/** Beside those, what selects, where an operation has something to select from. */
export const generalParameters: ReadonlySet<string> = new Set([...parametersOfAll, "fields", "limit", "before", "after", "ids"]);

/** In words of JSON Schema: an object with none but those of every operation. */
export const noOthers = { properties: Object.fromEntries([...parametersOfAll].map((name) => [name, {}])), additionalProperties: false } as const;
