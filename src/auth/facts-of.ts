import type { FactCache } from "#storage/facts";

/** A world's cache for one kind of fact, e.g. `facts("page_role")`. */
export type FactsOf = <T>(kind: string) => FactCache<T>;
