/** The step `authorize`: may this token do this here (D-13, D-14, D-16). What the caches know is decided without a promise. */
import { type GraphError, permissionMissing, tokenInvalid, tokenOfOtherApp } from "#kernel/errors";
import type { PortRegistry } from "#kernel/ports";
import type { Reader } from "#storage/database";
import type { AppFacts, FactsOf } from "./app-facts.ts";
import type { Credential } from "./credentials.ts";
import type { Policy, PolicyInput } from "./policy.ts";
import { placeNames } from "./schemes.ts";
import type { NodeRef } from "./token.ts";

export interface Surroundings {
  readonly reader: Reader;
  readonly ports: PortRegistry;
  readonly facts: FactsOf;
  readonly profile: "strict" | "clients";
}

/** A credential, and what a policy is asked about it. */
export interface AuthorizationCheck {
  readonly credential: Credential;
  readonly input: PolicyInput;
}

/** One for each distinct token. */
export function authorizationCheck(credentials: readonly Credential[], app: AppFacts, node: NodeRef, around: Surroundings): AuthorizationCheck[] {
  const { reader, ports, facts, profile } = around;
  const check: AuthorizationCheck[] = [];
  let seen: string | undefined;
  for (const credential of credentials) {
    if (credential.value === seen) continue;
    seen = credential.value;
    check.push({ credential, input: { token: credential.token, app, node, reader, ports, facts, profile } });
  }
  return check;
}

/** Whether any of the tokens may know that the node exists. */
export function canSeeNode(policy: Policy, check: readonly AuthorizationCheck[], from = 0): boolean | Promise<boolean> {
  for (let i = from; i < check.length; i++) {
    const { input } = check[i] as AuthorizationCheck;
    const canSee = policy.kinds.includes(input.token.type) && policy.canSee(input);
    if (typeof canSee !== "boolean") return canSee.then((later) => later || canSeeNode(policy, check, i + 1));
    if (canSee) return true;
  }
  return false;
}

/** D-10: every token must be of the same app and good for the node. Throws, or rejects with, what is missing. */
export function authorize(policy: Policy, check: readonly AuthorizationCheck[], from = 0): undefined | Promise<void> {
  for (let i = from; i < check.length; i++) {
    const { credential, input } = check[i] as AuthorizationCheck;
    requireKind(policy, credential, input);
    const canSee = policy.canSee(input);
    // A promise that was made is the one that is waited for: one left behind would end the program if it failed.
    if (typeof canSee !== "boolean") return authorizeLater(policy, check, i, canSee);
    requireSight(canSee, credential);
    requireScopes(policy, input);
    const refusal = policy.deny?.(input);
    if (refusal instanceof Promise) return authorizeLater(policy, check, i, canSee, refusal);
    if (refusal !== undefined) throw refusal;
  }
  return undefined;
}

/** The rest of `authorize`, from the first promise of a policy on. */
async function authorizeLater(
  policy: Policy,
  check: readonly AuthorizationCheck[],
  at: number,
  canSee: boolean | Promise<boolean>,
  refusing?: Promise<GraphError | undefined>,
): Promise<void> {
  const { credential, input } = check[at] as AuthorizationCheck;
  requireSight(await canSee, credential);
  if (refusing === undefined) requireScopes(policy, input);
  const refusal = await (refusing ?? policy.deny?.(input));
  if (refusal !== undefined) throw refusal;
  await authorize(policy, check, at + 1);
}

function requireKind(policy: Policy, { token, place }: Credential, { app }: PolicyInput): void {
  if (token.app !== app.id) throw tokenOfOtherApp(placeNames[place]);
  if (policy.kinds.includes(token.type)) return;
  throw tokenInvalid(placeNames[place], `a token of type ${token.type} does not serve here, only one of type ${policy.kinds.join(", ")}`);
}

function requireSight(canSee: boolean, { place }: Credential): void {
  if (!canSee) throw tokenInvalid(placeNames[place], "it is not valid for the addressed object");
}

function requireScopes(policy: Policy, input: PolicyInput): void {
  const refusal = scopesRefusal(policy, input);
  if (refusal !== undefined) throw refusal;
}

function scopesRefusal({ scopes }: Policy, { token }: PolicyInput): GraphError | undefined {
  for (const scope of scopes) if (!token.scopes.includes(scope)) return permissionMissing(scopes.filter((one) => !token.scopes.includes(one)));
  return undefined;
}

/**
 * D-16: why a field of the node stays back from a caller who has passed the operation's policy; undefined where it does not.
 * `unseen` is as though the field had no value: also for a token of a kind that the policy does not serve.
 */
export async function fieldRefusal(policy: Policy, check: readonly AuthorizationCheck[], node: NodeRef): Promise<"unseen" | GraphError | undefined> {
  let refusal: GraphError | undefined;
  for (const { input: asked } of check) {
    const input: PolicyInput = { ...asked, node };
    if (!policy.kinds.includes(input.token.type) || !(await policy.canSee(input))) return "unseen";
    refusal ??= scopesRefusal(policy, input) ?? (await policy.deny?.(input));
  }
  return refusal;
}
