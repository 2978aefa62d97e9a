/** The step `authorize` decides whether tokens permit an operation (D-13, D-14, D-16). */
import { type GraphError, permissionMissing, tokenInvalid, tokenOfOtherApp } from "#kernel/errors";
import type { PortRegistry } from "#kernel/ports";
import { type Awaitable, chain } from "#kernel/turns";
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

/** A credential, and the input by which policies judge the credential. */
export interface AuthorizationCheck {
  readonly credential: Credential;
  readonly input: PolicyInput;
}

/** Returns one check for each distinct token. */
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

/** Whether the owner of at least one of the tokens may know that the node exists. */
export function canSeeNode(policy: Policy, check: readonly AuthorizationCheck[]): Awaitable<boolean> {
  const [first] = check;
  return check.length === 1 && first !== undefined ? canSee(policy, first) : canAnySee(policy, check);
}

const canSee = (policy: Policy, { input }: AuthorizationCheck) => policy.kinds.includes(input.token.type) && policy.canSee(input);

async function canAnySee(policy: Policy, checks: readonly AuthorizationCheck[]): Promise<boolean> {
  for (const check of checks) if (await canSee(policy, check)) return true;
  return false;
}

/**
 * D-10: every token must belong to the same app and must be valid for the node. If a token does not meet these conditions, throws or rejects with the
 * error of the first such token.
 */
export function authorize(policy: Policy, check: readonly AuthorizationCheck[]): Awaitable<void> {
  const [first] = check;
  return check.length === 1 && first !== undefined ? chain(refusalOf(policy, first), throwRefusal) : authorizeEach(policy, check);
}

async function authorizeEach(policy: Policy, checks: readonly AuthorizationCheck[]): Promise<void> {
  for (const check of checks) throwRefusal(await refusalOf(policy, check));
}

function throwRefusal(refusal: GraphError | undefined): void {
  if (refusal !== undefined) throw refusal;
}

function refusalOf(policy: Policy, { credential: { token, place }, input }: AuthorizationCheck): Awaitable<GraphError | undefined> {
  if (token.app !== input.app.id) return tokenOfOtherApp(placeNames[place]);
  if (!policy.kinds.includes(token.type)) {
    const message = `the operation does not accept a token of type ${token.type}, only a token of type ${policy.kinds.join(", ")}`;
    return tokenInvalid(placeNames[place], message);
  }
  return chain(policy.canSee(input), (isSeen) =>
    isSeen
      ? (scopesRefusal(policy, input) ?? policy.deny?.(input))
      : tokenInvalid(placeNames[place], "the token is not valid for the node in the address"),
  );
}

function scopesRefusal({ scopes }: Policy, { token }: PolicyInput): GraphError | undefined {
  for (const scope of scopes) if (!token.scopes.includes(scope)) return permissionMissing(scopes.filter((one) => !token.scopes.includes(one)));
  return undefined;
}

/**
 * D-16: checks whether a caller who has passed the operation's policy may also read a field. Returns undefined if the caller may read the field.
 * `unseen` means that the field is treated as if it had no value; for a token of a type that the policy does not accept, the result is `unseen`, too.
 * For any other caller, the function returns the error that says which right is missing.
 */
export async function fieldRefusal(policy: Policy, check: readonly AuthorizationCheck[], node: NodeRef): Promise<"unseen" | GraphError | undefined> {
  let refusal: GraphError | undefined;
  for (const { input: given } of check) {
    const input: PolicyInput = { ...given, node };
    if (!policy.kinds.includes(input.token.type) || !(await policy.canSee(input))) return "unseen";
    refusal ??= scopesRefusal(policy, input) ?? (await policy.deny?.(input));
  }
  return refusal;
}
