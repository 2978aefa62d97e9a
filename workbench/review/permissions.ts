/** The permissions that a world file grants: scopes of tokens, and tasks of people on pages. */

export interface Permission {
  readonly kind: "scope" | "task";
  readonly name: string;
}

export const permissionText = ({ kind, name }: Permission): string => (kind === "scope" ? name : `${name} (page task)`);

interface Grants {
  readonly tokens?: readonly { readonly scopes?: readonly string[] }[];
  readonly pages?: readonly { readonly roles?: readonly { readonly tasks?: readonly string[] }[] }[];
}

/** The kinds of request bodies of the control API that may grant a permission: a world file, a token or a page. */
type Granting = "file" | "token" | "page";

/**
 * Returns the kind of body with which a request of this method and path may grant permissions; undefined if the request
 * cannot grant permissions.
 */
export function grantsOf(method: string, pathname: string): Granting | undefined {
  const path = /^\/v1\/worlds(?:\/[^/]+\/(.*))?$/.exec(pathname);
  if (path === null || method === "GET" || method === "DELETE") return undefined;
  if (path[1] === undefined || path[1] === "import") return "file";
  if (path[1] === "tokens") return "token";
  return /^nodes\/pages(?:\/|$)/.test(path[1]) ? "page" : undefined;
}

/** Parses a world file if it is a text, because the control API also accepts world files as YAML. */
export const fileOf = (file: unknown): object => (typeof file === "string" ? (Bun.YAML.parse(file) as object) : ((file ?? {}) as object));

/** Returns the permissions that a world file grants. */
export function grantedIn(file: object): readonly Permission[] {
  const { tokens = [], pages = [] } = file as Grants;
  const found = [
    ...tokens.flatMap(({ scopes = [] }) => scopes.map((name): Permission => ({ kind: "scope", name }))),
    ...pages.flatMap(({ roles = [] }) => roles.flatMap(({ tasks = [] }) => tasks.map((name): Permission => ({ kind: "task", name })))),
  ];
  return [...new Map(found.map((one) => [permissionText(one), one])).values()];
}

/** Returns the world file without the permissions in `removed`. */
export function withoutPermissions(file: object, removed: readonly Permission[]): object {
  const isKept = (kind: Permission["kind"]) => (name: string) => !removed.some((one) => one.kind === kind && one.name === name);
  const { tokens, pages } = file as Grants;
  return {
    ...file,
    ...(tokens === undefined ? {} : { tokens: tokens.map((token) => withScopes(token, isKept("scope"))) }),
    ...(pages === undefined ? {} : { pages: pages.map((page) => withTasks(page, isKept("task"))) }),
  };
}

const withScopes = <T extends { readonly scopes?: readonly string[] }>(token: T, isKept: (name: string) => boolean): T =>
  token.scopes === undefined ? token : { ...token, scopes: token.scopes.filter(isKept) };

const withTasks = <T extends { readonly roles?: readonly { readonly tasks?: readonly string[] }[] }>(
  page: T,
  isKept: (name: string) => boolean,
): T =>
  page.roles === undefined
    ? page
    : { ...page, roles: page.roles.map((role) => (role.tasks === undefined ? role : { ...role, tasks: role.tasks.filter(isKept) })) };
