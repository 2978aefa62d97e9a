/** Makes the OpenAPI documents that tests read. */
import { openapiDocument } from "#graph/contract/openapi/document";
import type { SurfaceName } from "#graph/pipeline/request";
import { standardCalendar } from "#graph/versions/calendar";
import { buildRegistry } from "#main";
import { surfaces } from "#surfaces/surfaces";

export const registry = buildRegistry();

/** The endpoints that a server with this profile serves. Some of the documents exist only in the profile `clients` (D-381). */
export const endpointsOf = (profile: "strict" | "clients") =>
  registry.endpoints.filter(
    ({ access: { surfaces, clientsSurfaces = [] } }) => surfaces.length > 0 || (profile === "clients" && clientsSurfaces.length > 0),
  );

/** 2026-11-18, a time at which one marketing version is left. */
const NOW = 1_795_000_000;

interface Parameter {
  /** A reference to a shared parameter, which replaces all other keys. */
  readonly $ref?: string;
  readonly name?: string;
  readonly description?: string;
  readonly explode?: boolean;
  readonly in?: string;
  readonly required?: boolean;
  readonly schema?: { readonly enum?: readonly string[]; readonly pattern?: string };
}

interface Server {
  readonly description?: string;
  readonly url: string;
}

export interface Operation {
  readonly operationId: string;
  readonly servers?: readonly Server[];
  readonly security: readonly object[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: object };
  readonly responses: Readonly<Record<string, { readonly content?: object }>>;
  readonly "x-plaza-operations": readonly string[];
}

export interface OpenapiDocument {
  readonly servers: readonly Server[];
  /** The operations, by path and method. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

const addresses = Object.fromEntries(surfaces.map(({ name, mount }) => [name, `https://graph.plaza.test${mount}`])) as Record<SurfaceName, string>;

export interface DocumentOptions {
  readonly profile?: "strict" | "clients";
  readonly type?: string;
  readonly surface?: SurfaceName;
}

export const documentOf = ({ profile = "strict", ...only }: DocumentOptions = {}): OpenapiDocument =>
  openapiDocument(registry, { profile, calendar: standardCalendar, now: NOW, addresses, ...only }) as unknown as OpenapiDocument;
