/** The permissions that world files grant: scopes of tokens, and tasks of people on pages. */

export interface Permission {
  readonly kind: "scope" | "task";
  readonly name: string;
}

export const permissionText = ({ kind, name }: Permission): string => (kind === "scope" ? name : `${name} (page task)`);

interface Grants {
  readonly tokens?: readonly { readonly scopes?: readonly string[] }[];
  readonly pages?: readonly { readonly roles?: readonly { readonly tasks?: readonly string[] }[] }[];
}

/** A body of the control API that may grant something, by the path below the world's. */
type Granting = "file" | "token" | "page";

/** The kind of grants in the body of a call; undefined if its body grants nothing. */
export function grantsOf(method: string, pathname: string): Granting | undefined {
  const path = /^\/v1\/worlds(?:\/[^/]+\/(.*))?$/.exec(pathname);
  if (path === null || method === "GET" || method === "DELETE") return undefined;
  if (path[1] === undefined || path[1] === "import") return "file";
  if (path[1] === "tokens") return "token";
  return /^nodes\/pages(?:\/|$)/.test(path[1]) ? "page" : undefined;
}

/** A world file as an object; the control API also takes it as YAML. */
export const fileOf = (file: unknown): object => (typeof file === "string" ? (Bun.YAML.parse(file) as object) : ((file ?? {}) as object));

/** The permissions that a world file grants. */
export function grantedIn(file: object): readonly Permission[] {
  const { tokens = [], pages = [] } = file as Grants;
  const found = [
    ...tokens.flatMap(({ scopes = [] }) => scopes.map((name): Permission => ({ kind: "scope", name }))),
    ...pages.flatMap(({ roles = [] }) => roles.flatMap(({ tasks = [] }) => tasks.map((name): Permission => ({ kind: "task", name })))),
  ];
  return [...new Map(found.map((one) => [permissionText(one), one])).values()];
}

/** The world file without the permissions. */
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
