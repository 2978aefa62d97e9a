/** A client of MCP, from the protocol's own package. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterThisTest } from "../cleanup.ts";

interface McpAnswer {
  readonly text: string;
  readonly isError: boolean;
}

interface McpClient {
  readonly client: Client;
  /** Calls a tool. The promise resolves with the text of the tool's answer. */
  call(tool: string, input?: object): Promise<McpAnswer>;
}

type Transport = Parameters<Client["connect"]>[0];

/** `auto` uses the newest revision of the protocol that both sides know, and `legacy` the one of 2025 that most clients know. */
type Revision = "auto" | "legacy";

async function clientOf(transport: Transport, mode: Revision = "legacy"): Promise<McpClient> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(transport);
  afterThisTest(() => client.close());
  return {
    client,
    async call(name, input = {}) {
      const { content, isError = false } = await client.callTool({ name, arguments: input as Record<string, unknown> });
      const [first] = content as { text: string }[];
      return { text: first?.text ?? "", isError };
    },
  };
}

interface HttpOptions {
  readonly revision?: Revision;
  /** Replaces the global `fetch` for an application that opens no socket. */
  readonly send?: (url: string | URL, init?: RequestInit) => Promise<Response>;
}

export const mcpOverHttp = (url: string, key: string, { revision, send }: HttpOptions = {}): Promise<McpClient> =>
  clientOf(
    new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { authorization: `Bearer ${key}` } },
      ...(send === undefined ? {} : { fetch: send }),
    }),
    revision,
  );

/** Starts `plaza mcp` in a folder, and connects to it. */
export const mcpOverStdio = (folder: string, environment: Record<string, string> = {}): Promise<McpClient> => {
  const command = new URL("../../../bin/plaza", import.meta.url).pathname;
  const env = { PATH: process.env.PATH ?? "", ...environment };
  return clientOf(new StdioClientTransport({ command, args: ["mcp"], cwd: folder, env, stderr: "pipe" }));
};
