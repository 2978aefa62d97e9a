/**
 * The login dialog (D-381): turns the request of an app into a form, and the person's choices into a code or a token. The file
 * `http/routes/login-route.ts` makes the HTML pages of the dialog.
 */

import { hashOf } from "#auth/tokens";
import type { SurfaceName } from "#graph/pipeline/request";
import type { World } from "#graph/worlds/world";
import { unixSeconds } from "#kernel/clock";
import { type NodeId, nodeId } from "#kernel/ids";
import { SealBroken } from "#storage/sealing";
import { findPerson, listPeople } from "./login.people.ts";
import { ALWAYS, decide } from "./login.permissions.ts";
import { type Asked, type Problem, problem, type Redirect, readRequest, redirectProblem, redirectTo } from "./login.request.ts";
import { personSignedIn, type SignIn, type ToSignIn } from "./login.sign-in.ts";
import { deleteOldCodes, findDeclined, insertCode } from "./login.store.ts";
import { issueToken, SHORT_SECONDS } from "./login.tokens.ts";

/** The time for which a code can be exchanged (RFC 6749, 4.1.2, recommends 10 minutes at most). */
const CODE_SECONDS = 600;
/** The time for which used codes are stored, so that Plaza notices if a code is sent again. */
const CODE_KEPT_SECONDS = 86_400;
/** The time for which the form of the dialog can be sent after it was opened. */
const FORM_SECONDS = 3_600;
const CODE_BYTES = 32;
/** The greatest number of people that the dialog lists. For a person who is not in the list, the form has a field for the person's id. */
export const PEOPLE_SHOWN_MAX = 100;

interface Person {
  readonly id: string;
  readonly name: string;
  /** The permissions for which the dialog does not ask the person again, because the person declined them at an earlier login. */
  readonly declined: readonly string[];
}

export interface Form {
  readonly kind: "form";
  readonly app: string;
  /** The person who signed in. In a sandbox without a sign-in page nobody has signed in, and the list has the first people who can log in. */
  readonly people: readonly Person[];
  readonly isSignedIn: boolean;
  /** The permissions that the person can grant or decline. */
  readonly scopes: readonly string[];
  /**
   * A hidden field of the form. The hidden field has the checked request in encrypted form, and only the browser that got the page can send the field
   * back.
   */
  readonly form_token: string;
  readonly redirect_uri: string;
}

const PURPOSE = "login form";
interface SealedForm extends Asked {
  readonly purpose: typeof PURPOSE;
  readonly world: string;
  /** The hash of the cookie of the browser that opened the dialog. */
  readonly cookie: string;
  readonly ends_at: number;
  /** The id of the person who signed in; undefined if the form asks who the person is. */
  readonly person?: string | undefined;
}

/**
 * Checks an app's request to open the dialog, and returns the form. The parameter `browser` is the random value that the person's browser has in a
 * cookie. If `signIn` is undefined, the form asks who the person is.
 */
export async function openDialog(
  world: World,
  surface: SurfaceName,
  query: URLSearchParams,
  browser: string,
  signIn?: SignIn,
): Promise<Problem | Redirect | ToSignIn | Form> {
  const { asked, app, ended } = await readRequest(world, surface, query);
  if (ended !== undefined) return ended;
  const isAccount = asked.host === "social_login";
  const who = signIn === undefined ? undefined : await personSignedIn(world, signIn, isAccount, browser);
  if (who !== undefined && who.kind !== "person") return who;
  const people = who === undefined ? await listPeople(world, isAccount, { limit: PEOPLE_SHOWN_MAX }) : [who];
  const scopes = asked.scopes.filter((scope) => scope !== ALWAYS);
  const ids = people.map(({ id }) => id);
  const declined = asked.is_rerequest ? new Map<string, string[]>() : await findDeclined(world.database.reader, app.id, ids);
  return {
    kind: "form",
    ...{ app: app.name, redirect_uri: asked.redirect_uri, scopes, isSignedIn: who !== undefined },
    people: people.map(({ id, name }) => ({ id, name, declined: scopes.filter((scope) => declined.get(id)?.includes(scope)) })),
    form_token: world.sealer.seal(
      JSON.stringify({
        ...asked,
        ...{ purpose: PURPOSE, world: world.name, cookie: hashOf(browser), ends_at: unixSeconds(world.clock) + FORM_SECONDS },
        person: who?.id,
      } satisfies SealedForm),
    ),
  };
}

/**
 * Handles the form of the login dialog that a person sent. If `isChosen` is true, the form of the dialog must say who the person is. If `isChosen` is
 * false, the form must belong to a person who signed in.
 */
export async function answerDialog(
  world: World,
  surface: SurfaceName,
  form: URLSearchParams,
  browser: string,
  isChosen = true,
): Promise<Problem | Redirect> {
  const asked = openedForm(world, form.get("form_token") ?? "");
  const isCurrent = asked !== undefined && asked.cookie === hashOf(browser) && asked.ends_at > unixSeconds(world.clock);
  if (!isCurrent || (asked.person === undefined) !== isChosen || asked.host !== (surface === "social_login" ? "social_login" : "base"))
    return problem("This form does not belong to a login page that is open in this browser. Go back to the app, and log in again.");
  const { redirect_uri, host, scopes } = asked;
  const app = await world.tokens.findApp(asked.app);
  // The app's `redirect_uris` may have changed while the page was open, so the address is checked again.
  const unregistered = app === undefined ? "The app does not exist any more." : redirectProblem(app, redirect_uri);
  if (unregistered !== undefined) return problem(unregistered);
  if (form.get("action") !== "allow") {
    return redirectTo(asked, { error: "access_denied", error_code: "200", error_reason: "user_denied", error_description: "Permissions error" });
  }
  const person = asked.person ?? (form.get("person_id") || (form.get("person") ?? ""));
  if ((await findPerson(world.database.reader, world, host === "social_login", person)) === undefined)
    return problem(`${person === "" ? "Nobody was chosen" : `${person} is not the id of a person`}. Go back, and choose who you are.`);
  const chosen = form.getAll("scope");
  const granted = scopes.filter((scope) => scope === ALWAYS || chosen.includes(scope));
  return redirectTo(asked, await answersTo(world, asked, nodeId(person), host === "base" ? [...new Set([ALWAYS, ...granted])] : granted));
}

function openedForm({ sealer, name }: World, token: string): SealedForm | undefined {
  try {
    const opened = JSON.parse(sealer.open(token)) as SealedForm;
    return opened.purpose === PURPOSE && opened.world === name ? opened : undefined;
  } catch (error) {
    if (error instanceof SealBroken || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * Stores which permissions the person granted and declined. Returns the values that the app requested: a code, a token, or the lists of granted and
 * denied permissions.
 */
function answersTo(world: World, asked: Asked, person: NodeId, granted: readonly string[]): Promise<Readonly<Record<string, string | undefined>>> {
  const { app, host, redirect_uri, scopes, challenge, answers, is_rerequest } = asked;
  const is_account = host === "social_login";
  return world.database.write(async (tx) => {
    const now = unixSeconds(world.clock);
    await deleteOldCodes(tx, now - CODE_KEPT_SECONDS);
    const allowed = await decide(tx, app, person, { asked: scopes, granted, isRerequest: is_rerequest });
    const code = answers.includes("code") ? world.randomSecret(CODE_BYTES) : undefined;
    const hash = code === undefined ? undefined : hashOf(code);
    if (hash !== undefined)
      await insertCode(tx, hash, { app, person, is_account, redirect_uri, challenge, scopes: allowed, expires_at: now + CODE_SECONDS });
    // The token is recorded as a token of the code, so that it is revoked with the code's other tokens if the code is sent twice.
    const token = answers.includes("token")
      ? await issueToken(tx, world, { app, person, is_account, scopes: allowed }, SHORT_SECONDS, hash)
      : undefined;
    return {
      ...(token === undefined ? {} : { access_token: token.value, token_type: "bearer", expires_in: String(SHORT_SECONDS) }),
      code,
      ...(answers.includes("granted_scopes")
        ? { granted_scopes: allowed.join(","), denied_scopes: scopes.filter((scope) => !allowed.includes(scope)).join(",") }
        : {}),
    };
  });
}
