/**
 * How far a request has come. Each step of the pipeline takes one of these values and returns the next, which adds what the step learned.
 * Steps never change a value.
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
  /** Upgrades of reads inside the response (VER-6f). The only value that steps add to. */
  readonly upgrades: ServedVersion[];
}

export interface Addressed {
  readonly address: Address;
  readonly method: string;
}

export interface Authenticated extends Addressed {
  /** Every live token of the request. */
  readonly credentials: readonly Credential[];
  /** Dead tokens beside live ones. They are refused if the endpoint reads their places. */
  readonly dead: readonly DeadCredential[];
  /** The app of the first live token. Undefined if there is no token. */
  readonly app: AppFacts | undefined;
}

export interface Resolved extends Authenticated {
  /** Undefined if the address has no id. */
  readonly node: NodeRef | undefined;
  readonly endpoint: Endpoint;
}

/** The caller may know that the node exists. */
export interface Visible extends Resolved {
  readonly caller: Caller;
  /** The node, or the caller's app if the address has no id. */
  readonly subject: NodeRef;
  readonly check: readonly AuthorizationCheck[];
}

export interface Versioned extends Visible {
  readonly served: ServedVersion;
}

/**
 * The last of these values. The headers of a response and the form of an error are made from it (`render.ts`). `concealed` is the endpoint on a
 * node that the caller may not see, for the log only.
 */
export type Reached = Partial<Versioned> & { readonly concealed?: Endpoint };
