/**
 * Policies decide what a token may do to a node (D-16). A feature defines the policies of its nouns. General ones are here and in
 * `page-policies.ts`.
 */
import { type GraphError, taskMissing } from "#kernel/errors";
import type { PortRegistry } from "#kernel/ports";
import type { Reader } from "#storage/database";
import type { AppFacts, FactsOf } from "./app-facts.ts";
import type { NodeRef, Token, TokenKind } from "./token.ts";

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
  /** Unique. Messages use it. */
  readonly name: string;
  /** For the page of permissions in the docs. */
  readonly summary: string;
  readonly kinds: readonly TokenKind[];
  /** All of them are needed. */
  readonly scopes: readonly string[];
  /** Whether the caller may know that the node exists. If not, the response is that of a missing node (D-14). */
  canSee(input: PolicyInput): boolean | Promise<boolean>;
  /** The error of another missing right, if the caller may know that the node exists and has the scopes. */
  deny?(input: PolicyInput): GraphError | undefined | Promise<GraphError | undefined>;
}

export const definePolicy = (policy: Policy): Policy => policy;

/** For node types that the interface never shows. */
export const nobody = definePolicy({ name: "nobody", summary: "nobody", kinds: [], scopes: [], canSee: () => false });

/** Allows the app's own token, and people with a role on it. */
export const ownApp = definePolicy({
  name: "ownApp",
  summary: "a token of that app: an app token, or of one of its administrators or developers",
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

/** Allows the app's own app token only. */
export const appTokenAlone = (name: string): Policy =>
  definePolicy({ name, summary: "the app's own app token", kinds: ["app"], scopes: [], canSee: ({ token, node }) => token.app === node.id });
