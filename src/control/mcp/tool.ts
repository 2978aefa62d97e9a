/** Defines the tools of MCP. Each tool of MCP has a schema for its input, and answers with a short text. */
import { type Static, type TObject, type TSchema, Type } from "typebox";
import type { ControlRoute } from "#control-contract/route";
import type { WebhookField } from "#webhooks/catalogue/field";
import type { GraphRequest } from "../client/graph-call.ts";
import type { ControlRequests } from "../client/requests.ts";

/** The functions and data of the server that tools use. */
export interface ToolAccess {
  /** Returns the sender of requests to the control API with the caller's key. The promise rejects if no server runs. */
  control(): Promise<ControlRequests>;
  /** Sends a request to the graph. */
  callGraph(request: GraphRequest): Promise<Response>;
  /** Whether the caller's key allows only reading, as far as the server of MCP knows. */
  readonly isReader: boolean;
  /** The pages about the interface and about Plaza, by their paths. */
  pages(): Promise<ReadonlyMap<string, string>>;
  readonly webhookFields: readonly WebhookField[];
  /** Reports an error that the caller cannot correct. */
  onUnexpected(error: unknown, tool: string): void;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly input: TObject;
  readonly isReading: boolean;
  /** The sentence at the end of an answer that was cut. This sentence tells the agent how to get the rest of the answer. */
  readonly rest: string;
  run(access: ToolAccess, input: never): Promise<string>;
}

interface ToolParts<T extends TObject, Input> extends Pick<Tool, "description" | "rest"> {
  readonly input: T;
  readonly isReading?: true;
  run(access: ToolAccess, input: Input): Promise<string>;
}

export const tool = <T extends TObject, Input = Static<T>>(name: string, { isReading, ...parts }: ToolParts<T, Input>): Tool => ({
  ...parts,
  name,
  isReading: isReading === true,
});

/** Makes the schema of a tool's input. The schema refuses unknown parameters, because an unknown parameter is often a misspelt one. */
export const input = <T extends Parameters<typeof Type.Object>[0]>(properties: T) => Type.Object(properties, { additionalProperties: false });

/**
 * The error that an MCP tool throws if it could not do its task. The tool answers with the message of such an error,
 * and marks the answer as an error.
 */
export class ToolFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ToolFailure";
  }
}

/** The time for which a tool waits for a response of the graph. A client of MCP waits about a minute for the answer of a tool. */
export const RESPONSE_MS_MAX = 60_000;

/** The greatest length of a tool's answer, about 1,500 tokens: an agent pays for each token, because answers stay in the agent's context. */
export const ANSWER_CHARACTERS_MAX = 6_000;

/**
 * Cuts a text that is too long, at the end of a line if possible. The end of a cut text says how many characters are
 * left out, and how to get the rest.
 */
export function bounded(text: string, rest: string): string {
  if (text.length <= ANSWER_CHARACTERS_MAX) return text;
  const room = ANSWER_CHARACTERS_MAX - rest.length - ROOM_FOR_NUMBERS;
  const line = text.lastIndexOf("\n", room);
  const end = line > room / 2 ? line : room;
  return `${text.slice(0, end).replace(/[\uD800-\uDBFF]$/, "")}\n… ${text.length - end} of ${text.length} characters are left out. ${rest}`;
}

/** The number of characters that a cut answer reserves for the sentence that counts the characters left out. */
const ROOM_FOR_NUMBERS = 80;

/** Returns parameters of a route for the input of a tool, so that the tool and the route have the same rules. */
export function parametersOf(routes: ReadonlyMap<string, ControlRoute>, operation: string, names: readonly string[]): Record<string, TSchema> {
  const { body, query } = routes.get(operation) as ControlRoute;
  const { properties } = (query ?? body) as TObject;
  return Object.fromEntries(names.map((name) => [name, Type.Optional(properties[name] as TSchema)]));
}
