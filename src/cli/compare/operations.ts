/** Finds the operation of a request only from the form of the request's address, because the server need not be Plaza. */
import { edgeOf, methodOf } from "#graph/contract/openapi/addresses";
import type { Registry } from "#graph/contract/registry";
import { parseVersion } from "#kernel/versions";
import { surfaces } from "#surfaces/surfaces";

export interface OperationForm {
  /** The form of the address, for example `POST /{id}/custom_labels`. */
  readonly address: string;
  /** The names of the contract's operations at this address. The list has several names if several node types have the same edge. */
  readonly names: readonly string[];
}

/**
 * If an address has at most this number of operations, the report shows their names; otherwise the report shows the form of
 * the address, which is shorter.
 */
const NAMES_MAX = 3;

export function operationForm(registry: Registry, method: string, target: string): OperationForm {
  const [path = ""] = target.split("?", 1);
  const mount = surfaces.map((surface) => surface.mount).find((one) => one !== "" && (path === one || path.startsWith(`${one}/`))) ?? "";
  const segments = path
    .slice(mount.length)
    .split("/")
    .filter((segment) => segment !== "" && parseVersion(segment) === undefined);
  const form = segments.map((segment) => (/^(\d+|me)$/.test(segment) ? "{id}" : segment)).join("/");
  const hasId = segments.some((segment) => /^(\d+|me)$/.test(segment));
  const last = segments.at(-1);
  const edge = last === undefined || /^(\d+|me)$/.test(last) ? undefined : last;
  const names = registry.endpoints
    .filter((endpoint) => methodOf(endpoint) === method && edgeOf(endpoint) === edge && (endpoint.nodeType !== undefined) === hasId)
    .map(({ access }) => access.operation);
  return { address: `${method} /${form}`, names };
}

export const formText = ({ address, names }: OperationForm): string =>
  names.length === 0 || names.length > NAMES_MAX ? address : `${names.join(" or ")} (${address})`;
