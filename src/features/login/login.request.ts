/**
 * Checks the request with which an app opens the login dialog (D-381, D-389), and makes the address at which the person returns to the app.
 *
 * **Invariant:** the dialog sends a person only to an address that equals, character by character, an address that the app has registered.
 */
import type { AppFacts } from "#auth/app-facts";
import type { SurfaceName } from "#graph/pipeline/request";
import type { World } from "#graph/worlds/world";
import { isNodeId, type NodeId } from "#kernel/ids";

export const SCOPES_MAX = 100;
/** The pattern of a permission's name. */
export const SCOPE_NAME = /^[a-z][a-z0-9_.]{0,99}$/;
const STATE_CHARACTERS_MAX = 2_000;

/**
 * A page that tells the person why the request is wrong. The person is not sent back, because the address in the request is missing or does not
 * belong to the app.
 */
export interface Problem {
  readonly kind: "problem";
  readonly text: string;
}
export interface Redirect {
  readonly kind: "redirect";
  readonly location: string;
}

/** The values that an app can request by `response_type`. An app can request `granted_scopes` only together with `code` or `token`. */
const ANSWERS = ["code", "token", "granted_scopes"] as const;
type Answer = (typeof ANSWERS)[number];
/**
 * The accepted values of `auth_type`. With the value `rerequest`, the dialog asks again for permissions that the person declined. The values
 * `reauthenticate` and `reauthorize` have no effect, because each dialog of Plaza requires a new sign-in anyway.
 */
const AUTH_TYPES = ["rerequest", "reauthenticate", "reauthorize"];

/** A checked request to open the dialog. */
export interface Asked {
  readonly app: NodeId;
  readonly host: "base" | "social_login";
  readonly redirect_uri: string;
  readonly state: string | undefined;
  readonly scopes: readonly string[];
  readonly challenge: string;
  readonly answers: readonly Answer[];
  readonly is_rerequest: boolean;
}

export const problem = (text: string): Problem => ({ kind: "problem", text });

type Request =
  | { readonly asked: Asked; readonly app: AppFacts; readonly ended?: undefined }
  | { readonly ended: Problem | Redirect; readonly asked?: undefined; readonly app?: undefined };

export async function readRequest(world: World, surface: SurfaceName, query: URLSearchParams): Promise<Request> {
  const twice = [...new Set(query.keys())].find((name) => query.getAll(name).length > 1);
  if (twice !== undefined) return { ended: problem(`${twice} is given twice.`) };
  const id = query.get("client_id") ?? "";
  const app = isNodeId(id) ? await world.tokens.findApp(id) : undefined;
  if (app === undefined) return { ended: problem(`client_id is not the id of an app of this world: ${id.slice(0, STATE_CHARACTERS_MAX)}`) };
  const redirect_uri = query.get("redirect_uri") ?? "";
  const unregistered = redirectProblem(app, redirect_uri);
  if (unregistered !== undefined) return { ended: problem(unregistered) };
  const given = query.get("state") ?? undefined;
  const state = (given ?? "").length > STATE_CHARACTERS_MAX ? undefined : given;
  const asked: Asked = {
    ...{ app: app.id, host: surface === "social_login" ? "social_login" : "base", redirect_uri, state },
    scopes: namesIn(query.get("scope")),
    challenge: query.get("code_challenge") ?? "",
    answers: namesIn(query.get("response_type") ?? "code") as Answer[],
    is_rerequest: namesIn(query.get("auth_type")).includes("rerequest"),
  };
  const wrong = given === state ? mistakeIn(asked, query) : mistake("invalid_request", "state is too long");
  return wrong === undefined ? { asked, app } : { ended: redirectTo(asked, wrong) };
}

const namesIn = (text: string | null): string[] => [...new Set((text ?? "").split(/[\s,]+/).filter((name) => name !== ""))];

const mistake = (error: string, error_description: string, error_reason = "invalid_request") => ({ error, error_reason, error_description });

function mistakeIn({ host, scopes, challenge, answers }: Asked, query: URLSearchParams): ReturnType<typeof mistake> | undefined {
  const isAnswered = answers.some((answer) => answer !== "granted_scopes") && answers.every((answer) => ANSWERS.includes(answer));
  if (host === "social_login" && (!isAnswered || answers.length > 1 || answers[0] !== "code"))
    return mistake("unsupported_response_type", "response_type must be code");
  if (!isAnswered) return mistake("unsupported_response_type", "response_type must be code, token or both, optionally with granted_scopes");
  if (scopes.length > SCOPES_MAX || scopes.some((scope) => !SCOPE_NAME.test(scope)))
    return mistake("invalid_scope", "scope must be a list of names of permissions, separated by commas", "invalid_scope");
  if (challenge !== "" && (query.get("code_challenge_method") !== "S256" || !/^[A-Za-z0-9_-]{43}$/.test(challenge)))
    return mistake("invalid_request", "code_challenge must be a SHA-256 in base64url, with code_challenge_method=S256");
  if (challenge !== "" && !answers.includes("code"))
    return mistake("invalid_request", "code_challenge goes with a code, so response_type must have code");
  const unknown = namesIn(query.get("auth_type")).find((type) => !AUTH_TYPES.includes(type));
  return unknown === undefined ? undefined : mistake("invalid_request", `auth_type must be one of ${AUTH_TYPES.join(", ")}`);
}

export function redirectProblem({ id, redirect_uris }: AppFacts, given: string): string | undefined {
  if (given === "") return "redirect_uri is missing.";
  if (redirect_uris.includes(given)) return undefined;
  const shown = given.slice(0, STATE_CHARACTERS_MAX);
  return `redirect_uri is not one of the addresses of app ${id}: ${shown}. Add exactly this address to redirect_uris of the app, in the world file or with plaza node change apps ${id} --set 'redirect_uris=[…]'.`;
}

/**
 * Returns a redirect to the app's address, with the answer and the state as parameters. If the app requested a token, the parameters are in the
 * fragment, because browsers do not send the fragment to servers (RFC 6749, 4.2.2). If the app requested only a code, the parameters are in the
 * query.
 */
export function redirectTo({ redirect_uri, state, answers }: Asked, parameters: Readonly<Record<string, string | undefined>>): Redirect {
  const given = Object.entries({ ...parameters, state }).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as [string, string]]));
  const mark = answers.includes("token") ? "#" : redirect_uri.includes("?") ? "&" : "?";
  return { kind: "redirect", location: `${redirect_uri}${mark}${new URLSearchParams(given)}` };
}
