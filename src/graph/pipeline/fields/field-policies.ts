/**
 * D-16: decides who may read which field. The step `authorize` has already checked the operation's policy, so a field that has the same policy may be
 * read. This file checks every policy that differs from the operation's, on the node to which the field belongs.
 */
import { type AuthorizationCheck, fieldRefusal } from "#auth/authorize";
import type { Policy } from "#auth/policy";
import type { NodeRef } from "#auth/token";
import type { Field, FieldSet } from "../../contract/operation.ts";
import { isPart, type Projection } from "./projection.ts";

/**
 * The caller's tokens, and the policy that these tokens have already passed. The passed policy is the operation's for a top-level field, and the
 * object's policy for a field inside an object.
 */
export interface FieldAccess {
  readonly policy: Policy;
  readonly check: readonly AuthorizationCheck[];
}

type Refusal = Awaited<ReturnType<typeof fieldRefusal>>;

/**
 * Returns a function that checks each policy once on the node of the fields. The returned function resolves with undefined if the caller may read
 * fields with that policy.
 */
export function refusalsOn(node: NodeRef, { policy: passed, check }: FieldAccess): (policy: Policy) => Promise<Refusal> {
  const known = new Map<Policy, Refusal>([[passed, undefined]]);
  return async (policy) => {
    if (!known.has(policy)) known.set(policy, await fieldRefusal(policy, check, node));
    return known.get(policy);
  };
}

/**
 * Returns the projection without the fields that the caller may not read. If the refusal is `unseen`, the field is left out of the projection, like a
 * field without a value. If a scope, task or role is missing, the field is left out too, unless the caller selected it by name and `named` is
 * `refused`.
 */
export async function readableOf(projection: Projection, access: FieldAccess, node: NodeRef, named: "refused" | "left out"): Promise<Projection> {
  const isStrict = projection.isExplicit && named === "refused";
  const refusalOf = refusalsOn(node, access);
  const chosen: Projection["chosen"][number][] = [];
  for (const one of projection.chosen) {
    const { field, inner } = one;
    const { policy } = field;
    // The value of this field comes from a separate read with the caller's rights, which checks its own policies.
    if (isPart(field)) {
      chosen.push(one);
      continue;
    }
    const refusal = await refusalOf(policy);
    if (refusal === undefined) {
      const readable = inner === undefined || inner.policy === policy ? inner : await readableOf(inner, { ...access, policy }, node, named);
      // If the caller may not read any field of an object, the object is left out.
      if (readable === undefined || readable.chosen.length > 0) chosen.push({ ...one, inner: readable });
    } else if (isStrict && refusal !== "unseen") throw refusal;
  }
  return { ...projection, chosen };
}

/** Lists the fields of a field set, at every depth, whose policy is not `policy`. */
export function fieldsBeyond(policy: Policy, set: FieldSet, holder = ""): { readonly path: string; readonly field: Field }[] {
  return Object.entries(set.fields).flatMap(([name, field]) => {
    if (isPart(field)) return [];
    const path = `${holder}${name}`;
    const inner = field.nested === undefined ? [] : fieldsBeyond(field.policy, field.nested.set(), `${path}.`);
    return field.policy === policy ? inner : [{ path, field }, ...inner];
  });
}
