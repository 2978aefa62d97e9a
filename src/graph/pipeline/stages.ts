/**
 * How far a request has come. Each step of the pipeline takes one of these values and returns the next: what the steps before it
 * learned, and what it has learned itself. None is ever written to.
 */
import type { AppFacts } from "#auth/app-facts";
import type { AuthorizationCheck } from "#auth/authorize";
import type { Credential, DeadCredential } from "#auth/credentials";
import type { NodeRef } from "#auth/token";
import type { Endpoint, Registry } from "../contract/registry.ts";
import type { ServedVersion } from "../versions/resolve.ts";
import type { World } from "../worlds/world.ts";
import type { Address } from "./address.ts";
import type { Caller, GraphRequest } from "./request.ts";

/** A request at the start of the pipeline. */
export interface Incoming {
  readonly request: GraphRequest;
  readonly world: World;
  readonly registry: Registry;
  readonly traceId: string;
  /** World time, Unix seconds. */
  readonly now: number;
  /** A read inside the response to a request (D-38), not a request of its own. */
  readonly isInside?: true;
  /** What was read inside the response in a later version than the request names (VER-6f): the one thing that a step adds to. */
  readonly upgrades: ServedVersion[];
}

export interface Addressed {
  readonly address: Address;
  readonly method: string;
}

export interface Authenticated extends Addressed {
  /** Every live token that the request brings; empty for a request without one. */
  readonly credentials: readonly Credential[];
  /** Beside live ones: refused where the endpoint lets their places count. */
  readonly dead: readonly DeadCredential[];
  /** Of the live token that comes first; undefined without a token. */
  readonly app: AppFacts | undefined;
}

export interface Resolved extends Authenticated {
  /** Undefined for an address without an id. */
  readonly node: NodeRef | undefined;
  readonly endpoint: Endpoint;
}

/** The caller may know that the node exists. */
export interface Visible extends Resolved {
  readonly caller: Caller;
  /** The node, or the caller's app where the address has no id. */
  readonly subject: NodeRef;
  readonly check: readonly AuthorizationCheck[];
}

export interface Versioned extends Visible {
  readonly served: ServedVersion;
}

/**
 * The last of these values: whatever a response says beside its body, and the form of an error, is read from it (`render.ts`).
 * `concealed` is the endpoint on a node that the caller may not see: for the log alone.
 */
export type Reached = Partial<Versioned> & { readonly concealed?: Endpoint };
