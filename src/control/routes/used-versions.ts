/** Finds the versions that the last requests of each app used. */
import type { Registry } from "#graph/contract/registry";
import { segmentsOf } from "#graph/pipeline/address";
import { servedVersion } from "#graph/versions/resolve";
import type { RequestEntry } from "#graph/worlds/request-log";
import type { World } from "#graph/worlds/world";
import { GraphError } from "#kernel/errors";
import { isNodeId } from "#kernel/ids";
import { formatVersion, parseVersion } from "#kernel/versions";

export interface UsedVersion {
  readonly app: string;
  readonly operation: string;
  /** The version in the request's path; undefined if the path had no version. */
  readonly asked: string | undefined;
  readonly entries: readonly RequestEntry[];
  /** Returns the version that would serve the same requests at a time (Unix seconds), or the error that the requests would get. */
  servedAt(moment: number): string | GraphError;
}

/** Groups the last requests by app, operation and version. */
export async function usedVersions(
  { tokens, calendar }: World,
  { endpoints }: Registry,
  requests: readonly RequestEntry[],
): Promise<readonly UsedVersion[]> {
  const byOperation = new Map(endpoints.map((endpoint) => [endpoint.access.operation, endpoint]));
  const groups = Map.groupBy(requests, ({ app, operation, path }) => `${app} ${operation} ${segmentsOf(path)[0]}`);
  const used: UsedVersion[] = [];
  for (const entries of groups.values()) {
    const { app: id, operation, path } = entries[0] as RequestEntry;
    const endpoint = byOperation.get(operation);
    const app = id === undefined || !isNodeId(id) ? undefined : await tokens.findApp(id);
    if (app === undefined || endpoint === undefined) continue;
    const requested = parseVersion(segmentsOf(path)[0] ?? "");
    const input = { rule: endpoint.access.versions, requested, app, calendar, names: endpoint.names, path };
    const servedAt = (now: number): string | GraphError => {
      try {
        return formatVersion(servedVersion({ ...input, now }).version);
      } catch (error) {
        if (error instanceof GraphError) return error;
        throw error;
      }
    };
    used.push({ app: app.id, operation, asked: requested === undefined ? undefined : formatVersion(requested), entries, servedAt });
  }
  return used;
}
