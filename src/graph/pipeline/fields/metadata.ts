/** D-34: what `metadata=1` adds to a node: its type, its fields, and where its edges are. */
import { formatVersion } from "#kernel/versions";
import type { FieldSet, ReadRequest } from "../../contract/operation.ts";
import type { Registry } from "../../contract/registry.ts";
import { type FieldAccess, refusalsOn } from "./field-policies.ts";

export interface Metadata {
  readonly type: string;
  readonly fields: readonly { name: string; type: string }[];
  /** Addresses without a token. */
  readonly connections: Readonly<Record<string, string>>;
}

export async function metadataOf(registry: Registry, set: FieldSet, request: ReadRequest, access: FieldAccess): Promise<Metadata> {
  const { node, version, world, graphRequest } = request;
  const refusalOf = refusalsOn(node, access);
  const fields: { name: string; type: string }[] = [];
  for (const [name, { schema, onlyIn, policy, edge }] of Object.entries(set.fields)) {
    // Edges stand among the connections.
    if (edge !== undefined) continue;
    if (onlyIn !== undefined && onlyIn !== world.profile) continue;
    // D-16: a field that the caller may not read is not listed.
    if ((await refusalOf(policy)) !== undefined) continue;
    fields.push({ name, type: String((schema as { type?: unknown }).type ?? "mixed") });
  }
  const edges = registry
    .operationsOn(node.type)
    .filter(({ served, access }) => served?.contract.method === "GET" && access.surfaces.includes(graphRequest.surface))
    .map(({ served }) => served?.contract.edge)
    .filter((edge) => edge !== null && edge !== undefined);
  const connections = Object.fromEntries(edges.map((edge) => [edge, `${graphRequest.baseUrl}/${formatVersion(version)}/${node.id}/${edge}`]));
  return { type: node.type, fields, connections };
}
