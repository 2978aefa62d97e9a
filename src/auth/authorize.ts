/** Step 8: may this token do this here (D-13, D-14, D-16). */
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

function ask(credential: Credential, app: AppFacts, node: NodeRef, around: Surroundings): Question {
  return { token: credential.token, app, node, reader: around.reader, readers: around.readers, facts: around.facts, profile: around.profile };
}

/** Whether any of the tokens may know that the node exists. */
export async function seesNode(
  policy: Policy,
  credentials: readonly Credential[],
  app: AppFacts,
  node: NodeRef,
  around: Surroundings,
): Promise<boolean> {
  let seen: string | undefined;
  for (const credential of credentials) {
    if (credential.value === seen) continue;
    seen = credential.value;
    if (policy.kinds.includes(credential.token.type) && (await policy.sees(ask(credential, app, node, around)))) return true;
  }
  return false;
}

/** D-10: every token must be of the same app and good for the node. Throws what is missing. */
export async function authorize(
  policy: Policy,
  credentials: readonly Credential[],
  app: AppFacts,
  node: NodeRef,
  around: Surroundings,
): Promise<void> {
  let seen: string | undefined;
  for (const credential of credentials) {
    const { token, place, value } = credential;
    if (value === seen) continue;
    seen = value;
    if (token.app !== app.id) throw tokenOfOtherApp(placeNames[place]);
    if (!policy.kinds.includes(token.type)) throw tokenInvalid(placeNames[place], `a token of type ${token.type} does not serve here`);
    const question = ask(credential, app, node, around);
    if (!(await policy.sees(question))) throw tokenInvalid(placeNames[place], "it is not valid for the addressed object");
    const missing = policy.scopes.filter((scope) => !token.scopes.includes(scope));
    if (missing.length > 0) throw permissionMissing(missing);
    const refusal = policy.refuses === undefined ? undefined : await policy.refuses(question);
    if (refusal !== undefined) throw refusal;
  }
}
