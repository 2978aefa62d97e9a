/**
 * Finds the methods that the response to OPTIONS lists: the methods of all operations at an address of this form. The server finds the methods of an
 * address without reading stored data (D-04, D-90).
 */
import type { Registry } from "#graph/contract/registry";
import { parseAddress } from "#graph/pipeline/address";
import type { SurfaceName } from "#graph/pipeline/request";
import { fixedVersions } from "#graph/versions/resolve";
import type { Profile } from "#graph/worlds/world";

const ORDER = ["GET", "HEAD", "POST", "DELETE", "OPTIONS"];

/**
 * Returns the allowed methods as the value of the header Allow. `isOwn` is true if the address belongs to one of the server's own routes, which serve
 * GET.
 */
export function allowedMethods(registry: Registry, profile: Profile, surface: SurfaceName, path: string, isOwn: boolean): string {
  const methods = new Set(isOwn ? ["GET", "OPTIONS"] : ["OPTIONS"]);
  for (const method of methodsAt(registry, profile, surface, path)) methods.add(method);
  if (methods.has("GET")) methods.add("HEAD");
  return ORDER.filter((method) => methods.has(method)).join(", ");
}

function methodsAt(registry: Registry, profile: Profile, surface: SurfaceName, path: string): string[] {
  const { id, edge, prefix, unknown } = parseAddress(path, fixedVersions[surface] === undefined, registry);
  if (unknown !== undefined) return [];
  if (prefix !== undefined && !registry.isUnder(prefix, edge)) return [];
  // D-34: the root serves batches, and reads of several ids.
  if (id === undefined && edge === undefined) return ["GET", "POST"];
  const found = registry.endpoints.filter(({ access, nodeType, served }) => {
    const isHere = access.surfaces.includes(surface) || (profile === "clients" && access.clientsSurfaces?.includes(surface) === true);
    return isHere && (served?.contract.edge ?? undefined) === edge && (nodeType === undefined) === (id === undefined);
  });
  const methods = found.map(({ served }) => served?.contract.method ?? "GET");
  // An edge without an id can be read with the parameter `ids`.
  return id === undefined && edge !== undefined && registry.isEdge(edge) ? [...methods, "GET"] : methods;
}
