/** What a request that is derived from another takes over: its credentials. */
import type { Parameters } from "./request.ts";

const names = ["access_token", "oauth_token", "appsecret_proof"];

export function tokensOf(parameters: Parameters): Record<string, unknown> {
  const tokens: Record<string, unknown> = {};
  for (const name of names) if (parameters[name] !== undefined) tokens[name] = parameters[name];
  return tokens;
}

/** D-32: links of the response carry what serves the request. */
export function withTokens(queryText: string, tokens: Record<string, unknown>): string {
  const pairs = Object.entries(tokens).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return [...(queryText === "" ? [] : [queryText]), ...pairs].join("&");
}
