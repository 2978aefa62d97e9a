/** The server of the Model Context Protocol, which serves tools and resources over stdio or over HTTP. */
import { createMcpHandler, type McpHttpHandler, type McpServerFactory, ResourceNotFoundError, Server } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { ConfigProblem } from "#config/config";
import type { ControlRoute } from "#control-contract/route";
import { entryReader } from "#graph/worlds/file/entry-reader";
import { WorldProblem } from "#graph/worlds/file/schema-words";
import { suggestion } from "#kernel/suggestion";
import { version } from "#package.json";
import { ControlRefusal, WrongParameter } from "../client/requests.ts";
import { actingTools } from "./acting-tools.ts";
import { readingTools } from "./reading-tools.ts";
import { bounded, type Tool, type ToolAccess, ToolFailure } from "./tool.ts";

const INSTRUCTIONS = `Plaza is a local server with the HTTP graph interface of a large platform, for developing and testing integrations. Begin with status. find_operation gives the rules of an operation, send_request tries it, explain_request says why a request failed, trigger_event sends a webhook to your app, and expect waits until your app does something. read_docs answers how to test, to receive webhooks, and to describe a world.`;

/** The URL scheme for pages that are MCP resources, as in `plaza://llms/personas.md`. */
const SCHEME = "plaza://";

/** Returns the tools by their names. `routes` are the routes of the control API; the inputs of tools follow the contracts of the routes. */
export const toolsOf = (routes: readonly ControlRoute[]): ReadonlyMap<string, Tool> =>
  new Map([...readingTools, ...actingTools(new Map(routes.map((route) => [route.operation, route])))].map((tool) => [tool.name, tool]));

function serverFor(tools: ReadonlyMap<string, Tool>, access: ToolAccess): Server {
  const server = new Server({ name: "plaza", version }, { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS });
  server.setRequestHandler("tools/list", () => ({
    tools: [...tools.values()].map(({ name, description, input, isReading }) => ({
      ...{ name, description, inputSchema: input as object as { type: "object" } },
      annotations: { readOnlyHint: isReading },
    })),
  }));
  server.setRequestHandler("tools/call", async ({ params }) => {
    const { text, isError } = await answerOf(tools, access, params.name, params.arguments ?? {});
    return { content: [{ type: "text", text }], ...(isError ? { isError } : {}) };
  });
  server.setRequestHandler("resources/list", async () => ({
    resources: [...(await access.pages())].map(([page, text]) => ({
      uri: SCHEME + page,
      name: page,
      mimeType: "text/markdown",
      size: Buffer.byteLength(text),
    })),
  }));
  server.setRequestHandler("resources/read", async ({ params: { uri } }) => {
    const text = (await access.pages()).get(uri.replace(SCHEME, ""));
    if (text === undefined || !uri.startsWith(SCHEME))
      throw new ResourceNotFoundError(uri, `the resource ${uri} does not exist; resources/list names all resources`);
    return { contents: [{ uri, mimeType: "text/markdown", text }] };
  });
  return server;
}

interface Answer {
  readonly text: string;
  readonly isError: boolean;
}

async function answerOf(tools: ReadonlyMap<string, Tool>, access: ToolAccess, name: string, given: unknown): Promise<Answer> {
  const tool = tools.get(name);
  if (tool === undefined) return { text: `there is no tool ${name}${suggestion(name, [...tools.keys()])}`, isError: true };
  try {
    const input = entryReader(tool.input)(given) as never;
    return { text: bounded(await tool.run(access, input), tool.rest), isError: false };
  } catch (error) {
    const text = messageOf(error);
    if (text !== undefined) return { text: bounded(text, tool.rest), isError: true };
    access.onUnexpected(error, name);
    return { text: "an unexpected error; see the log of the server", isError: true };
  }
}

/** Returns the message of an error that the caller can correct; undefined for any other error. */
function messageOf(error: unknown): string | undefined {
  if (error instanceof WorldProblem) return `${error.path}: ${error.problem}`;
  const isKnown = [ControlRefusal, WrongParameter, ToolFailure, ConfigProblem].some((kind) => error instanceof kind);
  return isKnown ? (error as Error).message : undefined;
}

/** Serves one MCP client on standard input and output. Resolves when the MCP client has closed the standard input. */
export async function serveOnStdio(tools: ReadonlyMap<string, Tool>, access: ToolAccess, onError: (error: Error) => void): Promise<void> {
  const transport = new StdioServerTransport();
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  process.stdin.once("close", resolve).once("end", resolve);
  const handle = serveStdio(() => serverFor(tools, access), { transport, onerror: onError, maxSubscriptions: 0 });
  await closed;
  await handle.close();
}

/** Serves MCP requests over HTTP. There are no MCP sessions: each HTTP request gets an MCP server of its own and one response in JSON. */
export class HttpProtocol {
  readonly #handler: McpHttpHandler;

  constructor(tools: ReadonlyMap<string, Tool>, onError: (error: Error) => void) {
    const factory: McpServerFactory = ({ authInfo }) => serverFor(tools, authInfo?.extra?.access as ToolAccess);
    // MCP clients cannot subscribe to changes of the pages, because the pages never change while the server runs.
    this.#handler = createMcpHandler(factory, { maxSubscriptions: 0, onerror: onError });
  }

  /** Serves a request. `body` is the JSON in the request's body; undefined if the request has no body. */
  serve(request: Request, body: unknown, access: ToolAccess): Promise<Response> {
    // No token is passed here, because the control API has already checked the caller's key, and `access` sends requests with this key.
    return this.#handler.fetch(request, { parsedBody: body, authInfo: { token: "", clientId: "", scopes: [], extra: { access } } });
  }
}
