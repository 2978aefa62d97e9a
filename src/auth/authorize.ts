/** Step 8: may this token do this here (D-13, D-14, D-16). What the caches know is decided without a promise. */
import { permissionMissing, tokenInvalid, tokenOfOtherApp } from "#kernel/errors";
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
export function seesNode(policy: Policy, asking: readonly Asking[]): boolean | Promise<boolean> {
  for (const { question } of asking) {
    const sees = policy.kinds.includes(question.token.type) && policy.sees(question);
    if (sees === true) return true;
    if (sees !== false) return anySees(policy, asking);
  }
  return false;
}

async function anySees(policy: Policy, asking: readonly Asking[]): Promise<boolean> {
  for (const { question } of asking) if (policy.kinds.includes(question.token.type) && (await policy.sees(question))) return true;
  return false;
}

/** D-10: every token must be of the same app and good for the node. Throws, or rejects with, what is missing. */
export function authorize(policy: Policy, asking: readonly Asking[]): undefined | Promise<void> {
  for (const { credential, question } of asking) {
    requireKind(policy, credential, question);
    const sees = policy.sees(question);
    if (typeof sees !== "boolean") return authorizeAll(policy, asking);
    requireSight(sees, credential);
    requireScopes(policy, question);
    const refusal = policy.refuses?.(question);
    if (refusal instanceof Promise) return authorizeAll(policy, asking);
    if (refusal !== undefined) throw refusal;
  }
  return undefined;
}

async function authorizeAll(policy: Policy, asking: readonly Asking[]): Promise<void> {
  for (const { credential, question } of asking) {
    requireKind(policy, credential, question);
    requireSight(await policy.sees(question), credential);
    requireScopes(policy, question);
    const refusal = await policy.refuses?.(question);
    if (refusal !== undefined) throw refusal;
  }
}

function requireKind(policy: Policy, { token, place }: Credential, { app }: Question): void {
  if (token.app !== app.id) throw tokenOfOtherApp(placeNames[place]);
  if (!policy.kinds.includes(token.type)) throw tokenInvalid(placeNames[place], `a token of type ${token.type} does not serve here`);
}

function requireSight(sees: boolean, { place }: Credential): void {
  if (!sees) throw tokenInvalid(placeNames[place], "it is not valid for the addressed object");
}

function requireScopes(policy: Policy, { token }: Question): void {
  for (const scope of policy.scopes) {
    if (!token.scopes.includes(scope)) throw permissionMissing(policy.scopes.filter((one) => !token.scopes.includes(one)));
  }
}
