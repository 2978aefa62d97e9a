/** An operation of the interface: its path, its callers, and its replies. */

import type { Scheme } from "./credentials.ts";
import { type ErrorName, type Failure, type Form, failure } from "./errors.ts";
import { isKnown, parseFields, type Selection, type Shape } from "./fields.ts";
import type { Token, TokenKind } from "./nodes.ts";
import type { Reply } from "./replies.ts";
import { asText, type GraphRequest, parameter, type Surface } from "./requests.ts";
import type { NodeType, World } from "./world.ts";

export interface Turn {
  readonly world: World;
  readonly request: GraphRequest;
  readonly operation: Operation;
  /** The id of the node in the path. */
  readonly node: string;
  /** The tokens of the request that count for the operation. Each of these tokens may run the operation. */
  readonly tokens: readonly [Token, ...Token[]];
  /** The URL of the world on this API of the graph, for links. */
  readonly address: string;
  /** The new id in the server's response. The model accepts a new id if no node has had it before. */
  readonly mint: () => string;
  /** The new id of an object that is not a node. */
  readonly observedId: () => string | undefined;
  /** A text in the response that only the server can know. */
  readonly observed: (name: string) => string | undefined;
  readonly fail: (error: ErrorName, data?: Readonly<Record<string, unknown>>) => Failure;
}

export interface Operation {
  readonly name: string;
  readonly method: "GET" | "POST" | "DELETE";
  /** The name of the edge of the node; empty for the node itself. */
  readonly edge: string;
  readonly on: NodeType | "nothing";
  readonly surfaces: readonly Surface[];
  /** The versions of which the path must name one, if the operation exists only in some versions. */
  readonly versions?: readonly string[];
  /** Whether the path must name a version, for operations with marketing versions. */
  readonly marketing?: "required" | "or current";
  readonly form: Form;
  readonly scheme: Scheme;
  readonly kinds: readonly TokenKind[];
  /** Further types of tokens that the operation takes in the response profile `clients`. */
  readonly kindsOfClients?: readonly TokenKind[];
  readonly scopes: readonly string[];
  /** The operation reads no data of a person, so it works even after the token's access to the person's data has ended (D-11). */
  readonly isOfNoPerson?: true;
  /** The callers who may know that the node exists, if they differ from the callers of the node's own read. */
  readonly knows?: (world: World, token: Token, node: string) => boolean;
  /** If this function returns false, the request is refused as if the node did not exist. */
  readonly isThere?: (world: World, node: string) => boolean;
  /** Whether the token lacks a scope that the operation needs only from some tokens. */
  readonly lacksScope?: (world: World, token: Token, node: string) => boolean;
  /** Whether the person or page of a token may run the operation, if the token may know that the node exists. */
  readonly hasTask: (world: World, token: Token, node: string) => boolean;
  readonly reply: (turn: Turn) => Reply | readonly Reply[];
}

export const failIn =
  (form: Form) =>
  (error: ErrorName, data?: Readonly<Record<string, unknown>>): Failure =>
    failure(form, error, data);

/** Reads the parameter `fields` of a request. If `fields` is wrong, the error about it is one of the errors that the model accepts. */
export function readSelection({ request, fail, world }: Turn, shape: Shape): Selection | Failure | undefined {
  const given = parameter(request, "fields");
  if (given === undefined || given === "") return undefined;
  const refused = fail("invalidParameter", { parameter: "fields" });
  const text = asText(given);
  const selection = text === undefined ? undefined : parseFields(text);
  if (selection === undefined) {
    world.reach("modifier");
    return refused;
  }
  if (isKnown(selection, shape, world.profile)) return selection;
  world.reach("unknownField");
  return refused;
}

export const isSelection = (value: Selection | Failure | undefined): value is Selection | undefined => value === undefined || !("error" in value);
