/** D-390: who signed in, as the sign-in page of the operator says by a signed request. */
import { hashOf } from "#auth/tokens";
import type { World } from "#graph/worlds/world";
import { isNodeId } from "#kernel/ids";
import { findPerson, type KnownPerson } from "./login.people.ts";
import { type Problem, problem } from "./login.request.ts";
import { payloadOf } from "./login.signed-request.ts";
import { useSignIn } from "./login.store.ts";

/** The time for which an answer of the page is valid: longer than a redirect takes on a slow phone. */
const LIFE_SECONDS = 120;
/** The time by which the clock of the page may be ahead. */
const AHEAD_SECONDS = 60;
/** The parameter of the dialog's address that has the answer of the page. */
const PARAMETER = "signed_in";

/** The operator's sign-in page. */
export interface SignInPage {
  readonly url: string;
  /** The key with which the page signs its answers. */
  readonly key: string;
}

/** A request of a browser to the dialog of a server with a sign-in page. */
export interface SignIn extends SignInPage {
  /** The address of the request. */
  readonly address: URL;
  /** Unix seconds of real time, because the page does not know the time of the world. */
  readonly nowSeconds: number;
}

/** The browser has to go to the sign-in page first. */
export interface ToSignIn {
  readonly kind: "sign_in";
  readonly location: string;
}

/** The person who signed in, or the response in place of the dialog. `browser` is the random value that this browser keeps in a cookie. */
export async function personSignedIn(world: World, signIn: SignIn, isAccount: boolean, browser: string): Promise<KnownPerson | Problem | ToSignIn> {
  const given = signIn.address.searchParams.get(PARAMETER);
  if (given === null) return toPage(signIn, browser);
  const signed = payloadOf(given, signIn.key);
  if (signed === undefined) return refusal("the signature is wrong, so the sign-in page and Plaza have different keys");
  const { user_id, nonce, issued_at } = signed.payload;
  if (nonce !== nonceOf(browser)) return refusal("the answer is for another browser, or this browser keeps no cookies");
  if (typeof issued_at !== "number" || !(issued_at <= signIn.nowSeconds + AHEAD_SECONDS))
    return refusal("issued_at must be the current time in Unix seconds");
  const endsAt = issued_at + LIFE_SECONDS;
  if (endsAt <= signIn.nowSeconds) return refusal(`the answer is older than ${LIFE_SECONDS} seconds`);
  const id = typeof user_id === "string" ? user_id : "";
  const person = isNodeId(id) ? await findPerson(world.database.reader, world, isAccount, id) : undefined;
  if (person === undefined) return refusal(`user_id must be the id of ${isAccount ? "a social account" : "a user"} of this world, as a text`);
  // The payload identifies the answer, because its signature could be written in several ways.
  const isNew = await world.database.write((tx) => useSignIn(tx, hashOf(signed.encoded), Math.ceil(endsAt), signIn.nowSeconds));
  // A person who reloads the dialog signs in again.
  return isNew ? person : toPage(signIn, browser);
}

const refusal = (reason: string): Problem => problem(`The answer of the sign-in page does not count: ${reason}.`);

/** A text that the page has to repeat. The nonce says nothing about the cookie, and belongs to this browser alone. */
const nonceOf = (browser: string): string => hashOf(`sign-in ${browser}`);

function toPage({ url, address }: SignIn, browser: string): ToSignIn {
  const back = new URL(address);
  back.searchParams.delete(PARAMETER);
  // The address of the page may have a query of its own.
  const page = new URL(url);
  page.searchParams.set("return_to", back.href);
  page.searchParams.set("nonce", nonceOf(browser));
  return { kind: "sign_in", location: page.href };
}
