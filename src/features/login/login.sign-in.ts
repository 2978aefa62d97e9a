/** D-390: finds out who signed in at the operator's sign-in page, which answers with a signed request. */
import { hashOf } from "#auth/tokens";
import type { World } from "#graph/worlds/world";
import { isNodeId } from "#kernel/ids";
import { findPerson, type KnownPerson } from "./login.people.ts";
import { type Problem, problem } from "./login.request.ts";
import { payloadOf } from "./login.signed-request.ts";
import { useSignIn } from "./login.store.ts";

/** The time for which an answer of the sign-in page is valid: longer than a redirect takes on a slow phone. */
const LIFE_SECONDS = 120;
/** The number of seconds by which the clock of the sign-in page may be ahead of Plaza's clock. */
const AHEAD_SECONDS = 60;
/** The query parameter of the dialog that has the answer of the sign-in page. */
const PARAMETER = "signed_in";

/** The operator's sign-in page. */
export interface SignInPage {
  readonly url: string;
  /** The key with which the sign-in page signs its answers. */
  readonly key: string;
}

/** A request of a browser to the dialog of a server with a sign-in page. */
export interface SignIn extends SignInPage {
  /** The full address of the browser's request. */
  readonly address: URL;
  /** The real time in Unix seconds, because the sign-in page does not know the time of the world. */
  readonly nowSeconds: number;
}

/** A redirect to the sign-in page, because the person has not signed in yet. */
export interface ToSignIn {
  readonly kind: "sign_in";
  readonly location: string;
}

/**
 * Returns the person who signed in, or the response that the browser gets instead of the dialog. `browser` is the random value that this browser has
 * in a cookie.
 */
export async function personSignedIn(world: World, signIn: SignIn, isAccount: boolean, browser: string): Promise<KnownPerson | Problem | ToSignIn> {
  const given = signIn.address.searchParams.get(PARAMETER);
  if (given === null) return toPage(signIn, browser);
  const signed = payloadOf(given, signIn.key);
  if (signed === undefined) return refusal("the signature is wrong, so the sign-in page and Plaza have different keys");
  const { user_id, nonce, issued_at } = signed.payload;
  if (nonce !== nonceOf(browser)) return refusal("the answer is for another browser, or this browser does not store cookies");
  if (typeof issued_at !== "number" || !(issued_at <= signIn.nowSeconds + AHEAD_SECONDS))
    return refusal("issued_at must be the current time in Unix seconds");
  const endsAt = issued_at + LIFE_SECONDS;
  if (endsAt <= signIn.nowSeconds) return refusal(`the answer is older than ${LIFE_SECONDS} seconds`);
  const id = typeof user_id === "string" ? user_id : "";
  const person = isNodeId(id) ? await findPerson(world.database.reader, world, isAccount, id) : undefined;
  if (person === undefined) return refusal(`user_id must be the id of ${isAccount ? "a social account" : "a user"} of this world, as a text`);
  // The hash of the payload, and not the signature, identifies the answer, because base64url can write the same signature in several ways.
  const isNew = await world.database.write((tx) => useSignIn(tx, hashOf(signed.encoded), Math.ceil(endsAt), signIn.nowSeconds));
  // A person who reloads the dialog sends an answer that was used before, and must sign in again.
  return isNew ? person : toPage(signIn, browser);
}

const refusal = (reason: string): Problem => problem(`The answer of the sign-in page was refused: ${reason}.`);

/**
 * Returns the nonce, a text that the sign-in page must send back. The nonce is a hash of the browser's cookie, so each browser has a different nonce,
 * and the nonce does not reveal the cookie.
 */
const nonceOf = (browser: string): string => hashOf(`sign-in ${browser}`);

function toPage({ url, address }: SignIn, browser: string): ToSignIn {
  const back = new URL(address);
  back.searchParams.delete(PARAMETER);
  // If the address of the sign-in page in the operator's configuration has query parameters, these parameters stay in the address.
  const page = new URL(url);
  page.searchParams.set("return_to", back.href);
  page.searchParams.set("nonce", nonceOf(browser));
  return { kind: "sign_in", location: page.href };
}
