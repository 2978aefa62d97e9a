/** D-240: which web pages may use the server. Only a sandbox has tokens and stream keys that everybody knows. */
import { hostnameOf, PageGuard } from "#kernel/page-guard";
import type { Config } from "./config.ts";
import { addressOf } from "./listening.ts";

/** Undefined: all pages. */
export function pageGuardOf({ sandbox, allow_origin, allow_host, host, control_host, public_url, surface_hosts }: Config): PageGuard | undefined {
  if (!sandbox) return undefined;
  const configured = [
    addressOf(host),
    addressOf(control_host),
    ...Object.values(surface_hosts),
    ...(public_url === undefined ? [] : [new URL(public_url).host]),
  ];
  return new PageGuard({ origins: allow_origin, hosts: [...allow_host, ...configured.flatMap((name) => hostnameOf(name) ?? [])] });
}
