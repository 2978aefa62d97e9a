/** A tool of MCP: its input by a schema, and a short text as its answer. */
import { type Static, type TObject, type TSchema, Type } from "typebox";
import type { ControlRoute } from "#control-contract/route";
import type { WebhookField } from "#webhooks/catalogue/field";
import type { GraphRequest } from "../client/graph-call.ts";
import type { ControlRequests } from "../client/requests.ts";

/** The parts of the server and of its contract that tools use. */
export interface ToolAccess {
  /** Requests to the control API with the key of the caller. Rejects if no server can be found. */
  control(): Promise<ControlRequests>;
  /** Sends a request to the graph. */
  callGraph(request: GraphRequest): Promise<Response>;
  /** Whether the key is known to allow only reading. */
  readonly isReader: boolean;
  /** The pages about the interface and about Plaza, by their paths. */
  pages(): Promise<ReadonlyMap<string, string>>;
  readonly webhookFields: readonly WebhookField[];
  /** Called with an error that the caller cannot correct. */
  onUnexpected(error: unknown, tool: string): void;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly input: TObject;
  readonly isReading: boolean;
  /** The sentence that says how to get the rest of an answer that is cut. */
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

/** The input of a tool. Unknown parameters are refused, because they are often misspelt ones. */
export const input = <T extends Parameters<typeof Type.Object>[0]>(properties: T) => Type.Object(properties, { additionalProperties: false });

/** The result of a tool that could not do its task: the answer is marked as an error. */
export class ToolFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ToolFailure";
  }
}

/** The time for a response of the graph. A client of MCP waits about a minute itself. */
export const RESPONSE_MS_MAX = 60_000;

/** The length of an answer: about 1,500 tokens, because an agent pays for each word and keeps it in its context. */
export const ANSWER_CHARACTERS_MAX = 6_000;

/** The text, cut at the end of a line if possible. A cut text says how much is missing, and how to get it. */
export function bounded(text: string, rest: string): string {
  if (text.length <= ANSWER_CHARACTERS_MAX) return text;
  const room = ANSWER_CHARACTERS_MAX - rest.length - ROOM_FOR_NUMBERS;
  const line = text.lastIndexOf("\n", room);
  const end = line > room / 2 ? line : room;
  return `${text.slice(0, end).replace(/[\uD800-\uDBFF]$/, "")}\n… ${text.length - end} of ${text.length} characters are left out. ${rest}`;
}

/** The sentence around the two numbers. */
const ROOM_FOR_NUMBERS = 80;

/** A route's parameters for the input of a tool, so that both follow the same rules. */
export function parametersOf(routes: ReadonlyMap<string, ControlRoute>, operation: string, names: readonly string[]): Record<string, TSchema> {
  const { body, query } = routes.get(operation) as ControlRoute;
  const { properties } = (query ?? body) as TObject;
  return Object.fromEntries(names.map((name) => [name, Type.Optional(properties[name] as TSchema)]));
}
