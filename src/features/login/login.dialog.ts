/**
 * The login dialog (D-381): checks the request of an app, and turns what the person chose into a code. `http/routes/login-route.ts` makes the pages.
 *
 * **Invariant:** the dialog sends a person only to an address that the app has registered, character by character.
 */

import type { AppFacts } from "#auth/app-facts";
import { hashOf } from "#auth/tokens";
import type { SurfaceName } from "#graph/pipeline/request";
import type { World } from "#graph/worlds/world";
import { unixSeconds } from "#kernel/clock";
import { isNodeId, type NodeId, nodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";
import { SealBroken } from "#storage/sealing";
import { ALWAYS, decide } from "./login.permissions.ts";
import { deleteOldCodes, insertCode } from "./login.store.ts";

/** How long a code may wait for its exchange (RFC 6749, 4.1.2, recommends 10 minutes at most). */
const CODE_SECONDS = 600;
/** How long used codes are kept, so that a second use is noticed. */
const CODE_KEPT_SECONDS = 86_400;
/** How long a person may look at the dialog. */
const FORM_SECONDS = 3_600;
const CODE_BYTES = 32;
export const SCOPES_MAX = 100;
/** The form of the name of a permission. */
export const SCOPE_NAME = /^[a-z][a-z0-9_.]{0,99}$/;
const STATE_CHARACTERS_MAX = 2_000;
/** The people whom the dialog shows. Others are named by their id. */
export const PEOPLE_SHOWN_MAX = 100;

/** A page that says what is wrong. The person stays there, because the address to return to is missing or not the app's. */
export interface Problem {
  readonly kind: "problem";
  readonly text: string;
}
export interface Redirect {
  readonly kind: "redirect";
  readonly location: string;
}
export interface Form {
  readonly kind: "form";
  readonly app: string;
  readonly people: readonly { readonly id: string; readonly name: string }[];
  /** The permissions to grant or decline. */
  readonly scopes: readonly string[];
  /** A hidden field of the form. It holds the checked request, sealed for the browser that got the page. */
  readonly form_token: string;
  readonly redirect_uri: string;
}

interface Asked {
  readonly app: NodeId;
  readonly host: "base" | "social_login";
  readonly redirect_uri: string;
  readonly state: string | undefined;
  readonly scopes: readonly string[];
  readonly challenge: string;
}

const PURPOSE = "login form";
interface SealedForm extends Asked {
  readonly purpose: typeof PURPOSE;
  /** The hash of the browser's cookie. */
  readonly cookie: string;
  readonly ends_at: number;
}

const problem = (text: string): Problem => ({ kind: "problem", text });

/** Checks the request of an app. `browser` is the random value that this browser keeps in a cookie. */
export async function openDialog(world: World, surface: SurfaceName, query: URLSearchParams, browser: string): Promise<Problem | Redirect | Form> {
  const twice = [...new Set(query.keys())].find((name) => query.getAll(name).length > 1);
  if (twice !== undefined) return problem(`${twice} is given twice.`);
  const id = query.get("client_id") ?? "";
  const app = isNodeId(id) ? await world.tokens.findApp(id) : undefined;
  if (app === undefined) return problem(`client_id is not the id of an app of this world: ${id.slice(0, STATE_CHARACTERS_MAX)}`);
  const redirect_uri = query.get("redirect_uri") ?? "";
  const unregistered = redirectProblem(app, redirect_uri);
  if (unregistered !== undefined) return problem(unregistered);
  const state = query.get("state") ?? undefined;
  const back = (error: string, reason: string, description: string): Redirect =>
    redirectTo(redirect_uri, { error, error_reason: reason, error_description: description, state });
  if ((state ?? "").length > STATE_CHARACTERS_MAX)
    return redirectTo(redirect_uri, { error: "invalid_request", error_reason: "invalid_request", error_description: "state is too long" });
  if ((query.get("response_type") ?? "code") !== "code") return back("unsupported_response_type", "invalid_request", "response_type must be code");
  const scopes = [...new Set((query.get("scope") ?? "").split(/[\s,]+/).filter((scope) => scope !== ""))];
  if (scopes.length > SCOPES_MAX || scopes.some((scope) => !SCOPE_NAME.test(scope)))
    return back("invalid_scope", "invalid_scope", "scope must be a list of names of permissions, separated by commas");
  const challenge = query.get("code_challenge") ?? "";
  if (challenge !== "" && (query.get("code_challenge_method") !== "S256" || !/^[A-Za-z0-9_-]{43}$/.test(challenge)))
    return back("invalid_request", "invalid_request", "code_challenge must be a SHA-256 in base64url, with code_challenge_method=S256");
  const host = surface === "social_login" ? "social_login" : "base";
  const asked: Asked = { app: app.id, host, redirect_uri, state, scopes, challenge };
  return {
    kind: "form",
    ...{ app: app.name, redirect_uri, people: await peopleOf(world, host), scopes: scopes.filter((scope) => scope !== ALWAYS) },
    form_token: world.sealer.seal(
      JSON.stringify({ ...asked, purpose: PURPOSE, cookie: hashOf(browser), ends_at: unixSeconds(world.clock) + FORM_SECONDS } satisfies SealedForm),
    ),
  };
}

function redirectProblem({ id, redirect_uris }: AppFacts, given: string): string | undefined {
  if (given === "") return "redirect_uri is missing.";
  if (redirect_uris.includes(given)) return undefined;
  const shown = given.slice(0, STATE_CHARACTERS_MAX);
  return `redirect_uri is not one of the addresses of app ${id}: ${shown}. Add exactly this address to redirect_uris of the app, in the world file or with plaza node change apps ${id} --set 'redirect_uris=[…]'.`;
}

/** The address with further parameters in its query. */
function redirectTo(address: string, parameters: Readonly<Record<string, string | undefined>>): Redirect {
  const given = Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as [string, string]]));
  return { kind: "redirect", location: `${address}${address.includes("?") ? "&" : "?"}${new URLSearchParams(given)}` };
}

async function peopleOf({ ports, database }: World, host: Asked["host"]): Promise<Form["people"]> {
  const page = { limit: PEOPLE_SHOWN_MAX };
  if (host === "base") return ports.get("user").listPeople(database.reader, page);
  return (await ports.get("social_account").listAccounts(database.reader, page)).map(({ id, username }) => ({ id, name: username }));
}

/** Handles the form. `chosen` holds its fields; a field that can be there several times is a list. */
export async function answerDialog(world: World, surface: SurfaceName, form: URLSearchParams, browser: string): Promise<Problem | Redirect> {
  const asked = openedForm(world, form.get("form_token") ?? "");
  const isCurrent = asked !== undefined && asked.cookie === hashOf(browser) && asked.ends_at > unixSeconds(world.clock);
  if (!isCurrent || asked.host !== (surface === "social_login" ? "social_login" : "base"))
    return problem("This form is not from a page that this browser has open. Go back to the app, and log in again.");
  const { redirect_uri, state, host, scopes, challenge } = asked;
  const app = await world.tokens.findApp(asked.app);
  // The addresses may have changed while the page was open.
  const unregistered = app === undefined ? "The app is gone." : redirectProblem(app, redirect_uri);
  if (unregistered !== undefined) return problem(unregistered);
  if (form.get("action") !== "allow") {
    return redirectTo(redirect_uri, {
      ...{ error: "access_denied", error_code: "200", error_reason: "user_denied", error_description: "Permissions error", state },
    });
  }
  const person = form.get("person_id") || (form.get("person") ?? "");
  if (!(await isPerson(world.database.reader, world, host === "social_login", person)))
    return problem(`${person === "" ? "Nobody was chosen" : `${person} is not the id of a person`}. Go back, and choose who you are.`);
  const chosen = form.getAll("scope");
  const granted = scopes.filter((scope) => scope === ALWAYS || chosen.includes(scope));
  const code = await giveCode(world, {
    ...asked,
    person: nodeId(person),
    granted: host === "base" ? [...new Set([ALWAYS, ...granted])] : granted,
    challenge,
  });
  return redirectTo(redirect_uri, { code, state });
}

function openedForm({ sealer }: World, token: string): SealedForm | undefined {
  try {
    const opened = JSON.parse(sealer.open(token)) as SealedForm;
    return opened.purpose === PURPOSE ? opened : undefined;
  } catch (error) {
    if (error instanceof SealBroken || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export async function isPerson(reader: Reader, { ports }: World, isAccount: boolean, id: string): Promise<boolean> {
  if (!isNodeId(id)) return false;
  if (!isAccount) return ports.get("user").isPerson(reader, id);
  return (await ports.get("social_account").findAccount(reader, id))?.id === id;
}

interface Choice extends Asked {
  readonly person: NodeId;
  readonly granted: readonly string[];
}

/** Stores a code and the person's decisions. */
async function giveCode(world: World, { app, person, host, redirect_uri, scopes, granted, challenge }: Choice): Promise<string> {
  const code = world.randomSecret(CODE_BYTES);
  await world.database.write(async (tx) => {
    const now = unixSeconds(world.clock);
    await deleteOldCodes(tx, now - CODE_KEPT_SECONDS);
    const grant = { app, person, is_account: host === "social_login", redirect_uri, challenge, expires_at: now + CODE_SECONDS };
    await insertCode(tx, hashOf(code), { ...grant, scopes: await decide(tx, app, person, scopes, granted) });
  });
  return code;
}
