import type { Access } from "./operation.ts";

/** How a version calendar's `affects` may call an endpoint. `G2-3` is a clause of the endpoint `G2`. */
export function namesOf(access: Access & { readonly operation: string }, edge: string | undefined): string[] {
  const numbers = access.clauses.map((clause) => /^([A-I]\d)-/.exec(clause)?.[1]).filter((number) => number !== undefined);
  return [access.operation, ...(edge === undefined ? [] : [edge]), ...new Set(numbers)];
}
