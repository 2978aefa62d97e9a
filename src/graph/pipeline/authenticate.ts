/** The step `authenticate`: which tokens a request brings, whatever its operation makes of them (D-10, D-93). */
import { checkKnownToken, checkTokens, presentedTokens } from "#auth/credentials";
import { clientsScheme, placeNames, type Scheme } from "#auth/schemes";
import { tokenInvalid } from "#kernel/errors";
import type { Addressed, Authenticated, Incoming } from "./stages.ts";

/** D-10: every place is read to learn which app and person send the request; the scheme decides later which places count. */
const everyPlace: Scheme = { ...clientsScheme, need: "all" };

/** Without a promise, for one token that is cached with its app; undefined where it takes more. Throws for a token that is not alive (D-14). */
export function authenticateAtOnce({ request, world, now }: Incoming, { address, method }: Addressed): Authenticated | undefined {
  const credentials = checkKnownToken(presentedTokens(request, everyPlace), world.tokens, now);
  if (credentials === undefined) return undefined;
  const first = credentials[0];
  const app = first === undefined ? undefined : world.tokens.peekApp(first.token.app);
  return first === undefined || app !== undefined ? { address, method, credentials, app } : undefined;
}

/** Rejects for the first token that is not alive (D-14), and for one of an app that was removed. */
export async function authenticate({ request, world, now }: Incoming, { address, method }: Addressed): Promise<Authenticated> {
  const credentials = await checkTokens(presentedTokens(request, everyPlace), world.tokens, now);
  const first = credentials[0];
  const app = first === undefined ? undefined : await world.tokens.findApp(first.token.app);
  if (first !== undefined && app === undefined) throw tokenInvalid(placeNames[first.place], "its app is gone");
  return { address, method, credentials, app };
}
