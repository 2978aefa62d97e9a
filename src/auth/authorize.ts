/** Step 8: may this token do this here (D-13, D-14, D-16). What the caches know is decided without a promise. */
import { type GraphError, permissionMissing, tokenInvalid, tokenOfOtherApp } from "#kernel/errors";
import type { ReaderRegistry } from "#kernel/readers";
import type { Reader } from "#storage/database";
import type { AppFacts } from "./app-facts.ts";
import type { Credential } from "./credentials.ts";
import type { FactsOf } from "./facts-of.ts";
import type { NodeRef } from "./node-ref.ts";
import type { Policy, Question } from "./policy.ts";
import { placeNames } from "./schemes.ts";

export interface Surroundings {
  readonly reader: Reader;
  readonly readers: ReaderRegistry;
  readonly facts: FactsOf;
  readonly profile: "strict" | "clients";
}

/** A credential with what the policies are asked of it. */
export interface Asking {
  readonly credential: Credential;
  readonly question: Question;
}

/** One for each distinct token. */
export function askingOf(credentials: readonly Credential[], app: AppFacts, node: NodeRef, around: Surroundings): Asking[] {
  const { reader, readers, facts, profile } = around;
  const asking: Asking[] = [];
  let seen: string | undefined;
  for (const credential of credentials) {
    if (credential.value === seen) continue;
    seen = credential.value;
    asking.push({ credential, question: { token: credential.token, app, node, reader, readers, facts, profile } });
  }
  return asking;
}

/** Whether any of the tokens may know that the node exists. */
export function seesNode(policy: Policy, asking: readonly Asking[], from = 0): boolean | Promise<boolean> {
  for (let i = from; i < asking.length; i++) {
    const { question } = asking[i] as Asking;
    const sees = policy.kinds.includes(question.token.type) && policy.sees(question);
    if (typeof sees !== "boolean") return sees.then((later) => later || seesNode(policy, asking, i + 1));
    if (sees) return true;
  }
  return false;
}

/** D-10: every token must be of the same app and good for the node. Throws, or rejects with, what is missing. */
export function authorize(policy: Policy, asking: readonly Asking[], from = 0): undefined | Promise<void> {
  for (let i = from; i < asking.length; i++) {
    const { credential, question } = asking[i] as Asking;
    requireKind(policy, credential, question);
    const sees = policy.sees(question);
    // A promise that was made is the one that is waited for: one left behind would end the program if it failed.
    if (typeof sees !== "boolean") return authorizeLater(policy, asking, i, sees);
    requireSight(sees, credential);
    requireScopes(policy, question);
    const refusal = policy.refuses?.(question);
    if (refusal instanceof Promise) return authorizeLater(policy, asking, i, sees, refusal);
    if (refusal !== undefined) throw refusal;
  }
  return undefined;
}

/** The rest of `authorize`, from the first answer that is not known yet. */
async function authorizeLater(
  policy: Policy,
  asking: readonly Asking[],
  at: number,
  sees: boolean | Promise<boolean>,
  refusing?: Promise<GraphError | undefined>,
): Promise<void> {
  const { credential, question } = asking[at] as Asking;
  requireSight(await sees, credential);
  if (refusing === undefined) requireScopes(policy, question);
  const refusal = await (refusing ?? policy.refuses?.(question));
  if (refusal !== undefined) throw refusal;
  await authorize(policy, asking, at + 1);
}

function requireKind(policy: Policy, { token, place }: Credential, { app }: Question): void {
  if (token.app !== app.id) throw tokenOfOtherApp(placeNames[place]);
  if (!policy.kinds.includes(token.type)) throw tokenInvalid(placeNames[place], `a token of type ${token.type} does not serve here`);
}

function requireSight(sees: boolean, { place }: Credential): void {
  if (!sees) throw tokenInvalid(placeNames[place], "it is not valid for the addressed object");
}

function requireScopes(policy: Policy, question: Question): void {
  const refusal = scopesRefusal(policy, question);
  if (refusal !== undefined) throw refusal;
}

function scopesRefusal({ scopes }: Policy, { token }: Question): GraphError | undefined {
  for (const scope of scopes) if (!token.scopes.includes(scope)) return permissionMissing(scopes.filter((one) => !token.scopes.includes(one)));
  return undefined;
}

/**
 * D-16: why a field of the node stays back from a caller who has passed the operation's policy; undefined where it does not.
 * `unseen` is as though the field had no value: also for a token of a kind that the policy does not serve.
 */
export async function fieldRefusal(policy: Policy, asking: readonly Asking[], node: NodeRef): Promise<"unseen" | GraphError | undefined> {
  let refusal: GraphError | undefined;
  for (const { question: asked } of asking) {
    const question: Question = { ...asked, node };
    if (!policy.kinds.includes(question.token.type) || !(await policy.sees(question))) return "unseen";
    refusal ??= scopesRefusal(policy, question) ?? (await policy.refuses?.(question));
  }
  return refusal;
}
