/** The words of a policy; the policies themselves stand in one table, `policies.ts` (D-16). */
import type { GraphError } from "#kernel/errors";
import type { PortRegistry } from "#kernel/ports";
import type { Reader } from "#storage/database";
import type { AppFacts } from "./app-facts.ts";
import type { FactsOf } from "./facts-of.ts";
import type { NodeRef } from "./node-ref.ts";
import type { Token, TokenKind } from "./token.ts";

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
  /** For the permissions page of the docs. */
  readonly summary: string;
  readonly kinds: readonly TokenKind[];
  /** All of them are needed. */
  readonly scopes: readonly string[];
  canSee(input: PolicyInput): boolean | Promise<boolean>;
  deny?(input: PolicyInput): GraphError | undefined | Promise<GraphError | undefined>;
}
