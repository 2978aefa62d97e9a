/**
 * Requests to a server on this machine never use the environment's proxy, because the proxy could not reach the server and would see the control key.
 */
import { environment } from "#config/option";
import { NO_PROXY } from "#control/client/requests";
import { isLoopback } from "#kernel/page-guard";

/** The options of `fetch` for a request to `url`, without a proxy if `url` is on this machine. */
export const directTo = (url: string): BunFetchRequestInit => (isLoopback(new URL(url).hostname) ? { proxy: NO_PROXY } : {});

const PROXY = /^(?:https?|all)_proxy$/i;
const LOOPBACK = "localhost,127.0.0.1,::1";

/** Returns the variables by which a command of `plaza exec` reaches its server without the environment's proxy; no variables if there is no proxy. */
export function withoutProxyFor(variables: Readonly<Record<string, string | undefined>>): Record<string, string> {
  if (!Object.keys(variables).some((name) => PROXY.test(name) && variables[name] !== "")) return {};
  const hosts = [variables.NO_PROXY ?? variables.no_proxy, LOOPBACK].filter((text) => text !== undefined && text !== "").join(",");
  return { NO_PROXY: hosts, no_proxy: hosts };
}

/** Returns the environment for a program that a command runs, without the variables of the channel between bin/plaza.mjs and this process. */
export function environmentOfProgram(): Readonly<Record<string, string | undefined>> {
  const { NODE_CHANNEL_FD: _, NODE_CHANNEL_SERIALIZATION_MODE: __, ...variables } = environment();
  return { ...variables, ...withoutProxyFor(variables) };
}
