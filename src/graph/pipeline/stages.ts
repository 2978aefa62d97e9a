/**
 * The values that the steps of the pipeline pass on. Each step of the pipeline takes one of these values and returns the next, which also has the
 * facts that the step has found. A step of the pipeline never changes the value that it takes.
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
  /** World time, in Unix seconds. */
  readonly now: number;
  /** Set for a read inside the response to a request (D-38). A read inside a response is not logged or counted as a request. */
  readonly isInside?: true;
  /** The upgrades to later versions of the reads inside the response (VER-6f). The list of upgrades is the only field that later steps change. */
  readonly upgrades: ServedVersion[];
}

/** The request with its address and its method. */
export interface Addressed {
  readonly address: Address;
  readonly method: string;
}

/** The request with its checked tokens. */
export interface Authenticated extends Addressed {
  /** Every valid token of the request, with its app and its source (query, body or header). */
  readonly credentials: readonly Credential[];
  /**
   * Invalid tokens of a request that also has valid ones. The request is refused if an invalid token comes from the source (query, body or header) in
   * which the endpoint expects its token.
   */
  readonly dead: readonly DeadCredential[];
  /** The app of the first valid token. Undefined if the request has no valid token. */
  readonly app: AppFacts | undefined;
}

/** The request with the addressed node, and with the endpoint that serves the request. */
export interface Resolved extends Authenticated {
  /** The addressed node. Undefined if the address has no id. */
  readonly node: NodeRef | undefined;
  readonly endpoint: Endpoint;
}

/** A request whose caller may know that the node exists. */
export interface Visible extends Resolved {
  readonly caller: Caller;
  /** The node on which the caller's rights are checked: the addressed node, or the caller's app if the address has no id. */
  readonly subject: NodeRef;
  readonly check: readonly AuthorizationCheck[];
}

/** The request with the version that serves it. */
export interface Versioned extends Visible {
  readonly served: ServedVersion;
}

/**
 * The facts about the request that its last completed step has returned. The headers of a response and the form of an error are made from these facts
 * (`render.ts`). `concealed` is the endpoint on a node that the caller may not see; only the log uses this field, and a `node` that is set without an
 * `endpoint`.
 */
export type Reached = Partial<Versioned> & { readonly concealed?: Endpoint; readonly many?: ManyName };

/**
 * D-375: the operation names of batches and of requests with `ids=`. The operation name of a batch or of a request with `ids=` is the name of the
 * parameter with its requests (D-34).
 */
export const manyNames = ["batch", "ids"] as const;
export type ManyName = (typeof manyNames)[number];
