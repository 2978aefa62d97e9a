/**
 * A policy decides what a token may do to a node (D-16). A feature defines the policies of its own nodes. Policies that several features use are in
 * `policy.ts` and `page-policies.ts`.
 */
import { type GraphError, taskMissing } from "#kernel/errors";
import type { PortRegistry } from "#kernel/ports";
import type { Awaitable } from "#kernel/turns";
import type { Reader } from "#storage/database";
import type { AppFacts, FactsOf } from "./app-facts.ts";
import type { NodeRef, Token, TokenKind } from "./token.ts";

/** The facts from which a policy decides: the token, its app and the node, and functions that read more facts. */
export interface PolicyInput {
  readonly token: Token;
  readonly app: AppFacts;
  readonly node: NodeRef;
  readonly reader: Reader;
  readonly ports: PortRegistry;
  readonly facts: FactsOf;
  readonly profile: "strict" | "clients";
}

export interface Policy {
  /** The policy's unique name, which appears in error messages. */
  readonly name: string;
  /** A sentence about the policy for the docs page about permissions. */
  readonly summary: string;
  readonly kinds: readonly TokenKind[];
  /** The scopes that the token must have; a token without one of them is refused. */
  readonly scopes: readonly string[];
  /** Whether the caller may know that the node exists. A caller who may not know gets the same response as for a missing node (D-14). */
  canSee(input: PolicyInput): Awaitable<boolean>;
  /**
   * Whether a request for a missing node also runs the SQL statements of `canSee` (D-336). If the property is true, `canSee` must run the same
   * statements for every node that the caller may not see.
   */
  readonly readsNode?: true;
  /**
   * Returns an error if the caller lacks a right that the operation needs. This function of a policy is called only if the caller may know that the
   * node exists and the token has the scopes.
   */
  deny?(input: PolicyInput): Awaitable<GraphError | undefined>;
}

export const definePolicy = (policy: Policy): Policy => policy;

/** The policy that refuses every caller. Node types that the interface never shows have this policy. */
export const nobody = definePolicy({ name: "nobody", summary: "nobody", kinds: [], scopes: [], canSee: () => false });

/** Allows the app's own tokens, and tokens of people who have a role on the app. */
export const ownApp = definePolicy({
  name: "ownApp",
  summary: "a token of the app itself: an app token, or a token of one of its administrators or developers",
  kinds: ["app", "user", "system_user"],
  scopes: [],
  canSee: ({ token, node }) => token.app === node.id,
  async deny({ token, node, reader, ports }) {
    if (token.type === "app" || token.user === undefined) return undefined;
    const roles = await ports.get("app").rolesOf(reader, node.id, token.user);
    return roles.some((role) => role === "administrator" || role === "developer")
      ? undefined
      : taskMissing("the role administrator or developer on the app");
  },
});

/** Makes a policy that allows only an app token, and only for the token's own app. */
export const appTokenAlone = (name: string): Policy =>
  definePolicy({ name, summary: "the app's own app token", kinds: ["app"], scopes: [], canSee: ({ token, node }) => token.app === node.id });
