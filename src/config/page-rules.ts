/** D-240: which web pages may use the server. Only a sandbox has tokens and stream keys that everybody knows. */
import { hostnameOf, PageGuard, type PageRules } from "#kernel/page-guard";
import type { Config } from "./config.ts";
import { addressOf } from "./listening.ts";

/** Undefined: all pages. */
export function pageRulesOf({ sandbox, allow_origin, allow_host, host, control_host, public_url, surface_hosts }: Config): PageRules | undefined {
  if (!sandbox) return undefined;
  const configured = [
    addressOf(host),
    addressOf(control_host),
    ...Object.values(surface_hosts),
    ...(public_url === undefined ? [] : [new URL(public_url).host]),
  ];
  return { origins: allow_origin, hosts: [...allow_host, ...configured.flatMap((name) => hostnameOf(name) ?? [])] };
}

export function pageGuardOf(config: Config): PageGuard | undefined {
  const rules = pageRulesOf(config);
  return rules && new PageGuard(rules);
}
