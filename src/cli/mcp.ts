/** `plaza mcp`: serves the Model Context Protocol on standard input and output, for the coding agent that starts the command. */
import { ConfigProblem } from "#config/config";
import { ControlRefusal, type ControlRequests } from "#control/client/requests";
import { textPages } from "#control/llms/text-pages";
import { serveOnStdio, toolsOf } from "#control/mcp/protocol";
import { RESPONSE_MS_MAX } from "#control/mcp/tool";
import { controlRoutes } from "#control/routes";
import { buildRegistry } from "#main";
import { controlRequests, type Given, mayHaveServer } from "./control-client.ts";
import { directTo } from "./proxies.ts";
import { note } from "./terminal/output.ts";

export async function mcp(given: Given): Promise<number> {
  const registry = buildRegistry();
  const report = (error: unknown): void => note(`plaza: ${error instanceof Error ? error.message : error}`);
  await serveOnStdio(
    toolsOf(controlRoutes(registry)),
    {
      control: () => runningServer(given),
      callGraph: ({ url, init }) =>
        fetch(url, { ...init, redirect: "manual", keepalive: false, signal: AbortSignal.timeout(RESPONSE_MS_MAX), ...directTo(url) }),
      isReader: false,
      pages: () => textPages(registry),
      webhookFields: registry.webhookFields.all,
      onUnexpected: report,
    },
    report,
  );
  return 0;
}

/** Finds the server of the command. Each tool call finds the server again, because the agent may start or restart the server between two calls. */
async function runningServer(given: Given): Promise<ControlRequests> {
  if (!(await mayHaveServer(given))) throw new ControlRefusal(NO_SERVER);
  const control = await controlRequests(given);
  const send: ControlRequests["send"] = (path, init) => control.send(path, init).catch(explain);
  return { ...control, send, request: (method, path, body) => control.request(method, path, body).catch(explain) };
}

const NO_SERVER = "no server runs on the data of this folder: start one with plaza start, in the background, and call the tool again";

function explain(error: unknown): never {
  throw error instanceof ConfigProblem ? new ControlRefusal(`${error.message}; plaza start starts a server`) : error;
}
