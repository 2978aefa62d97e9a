/** An operation of the interface: its address, its callers, and its replies. */

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
  /** The id of the node that the path names. */
  readonly node: string;
  /** Those that count; all of them may run the operation. */
  readonly tokens: readonly [Token, ...Token[]];
  /** The world's address on this surface, for links. */
  readonly address: string;
  /** The id that the server gave out: the model takes it if none like it was there before. */
  readonly mint: () => string;
  /** The id of something that is not a node. */
  readonly observedId: () => string | undefined;
  /** A text of the response that only the server can know. */
  readonly observed: (name: string) => string | undefined;
  readonly fail: (error: ErrorName, data?: Readonly<Record<string, unknown>>) => Failure;
}

export interface Operation {
  readonly name: string;
  readonly method: "GET" | "POST" | "DELETE";
  /** The name below the node; empty: the node itself. */
  readonly edge: string;
  readonly on: NodeType | "nothing";
  readonly surfaces: readonly Surface[];
  /** If it has versions of its own: the path has to name one of these. */
  readonly versions?: readonly string[];
  /** By the calendar of marketing: whether the path has to name a version. */
  readonly marketing?: "required" | "or current";
  readonly form: Form;
  readonly scheme: Scheme;
  readonly kinds: readonly TokenKind[];
  /** [clients]: these beside. */
  readonly kindsOfClients?: readonly TokenKind[];
  readonly scopes: readonly string[];
  /** It reads nothing of a person, so the end of access to a person's data does not concern it (D-11). */
  readonly isOfNoPerson?: true;
  /** The callers who may know of the node, if they differ from those of its own read. */
  readonly knows?: (world: World, token: Token, node: string) => boolean;
  /** If it is false, the node is refused as one that does not exist. */
  readonly isThere?: (world: World, node: string) => boolean;
  /** A scope that only some tokens need. */
  readonly lacksScope?: (world: World, token: Token, node: string) => boolean;
  /** Whether this token's person or page may, beyond knowing of the node. */
  readonly hasTask: (world: World, token: Token, node: string) => boolean;
  readonly reply: (turn: Turn) => Reply | readonly Reply[];
}

export const failIn =
  (form: Form) =>
  (error: ErrorName, data?: Readonly<Record<string, unknown>>): Failure =>
    failure(form, error, data);

/** Reads `fields` of a request. An error is one of the possible ones. */
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
