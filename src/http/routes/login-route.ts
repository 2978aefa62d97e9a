/** Serves the login dialog as a page (D-381), at `/dialog/oauth` of the main host and at `/oauth/authorize` of the host of the alternate flow. */
import { answerDialog, type Form, openDialog, PEOPLE_SHOWN_MAX, type SignInPage } from "#features/login";
import { escapedHtml } from "#kernel/text";
import { randomSecret, realNowMs } from "#system";
import type { PageRoute, RouteDestination } from "./extra-routes.ts";

/**
 * The cookie that binds a form and a sign-in to a browser. The cookie of the login dialog does not say who signed in. With `SameSite=Lax` a browser
 * also sends the cookie when an app or the sign-in page sends a person here, but not when another site sends a form.
 */
const COOKIE = "plaza_login";
/** A value of 24 random bytes has 192 bits. */
const COOKIE_BYTES = 24;
const COOKIE_VALUE = /^[A-Za-z0-9_-]{32}$/;
const NONCE_BYTES = 12;

const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  // With the referrer policy `no-referrer` a browser would send the form with the origin null, which the server refuses. With the policy
  // `same-origin` the app does not see the address of the dialog either.
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

interface LoginOptions {
  readonly sandbox: boolean;
  readonly sign_in_url?: string | undefined;
  readonly sign_in_key?: string | undefined;
}

/**
 * Returns the routes of the login dialog. In a sandbox the person chooses her account in the dialog. With `sign_in_url` the operator's page reports
 * who signed in (D-390). If the server is not a sandbox and has no `sign_in_url`, it cannot learn who the person is, so it has no dialog.
 */
export function loginRoutes({ sandbox, sign_in_url, sign_in_key }: LoginOptions): readonly PageRoute[] {
  const signInPage = sign_in_url === undefined || sign_in_key === undefined ? undefined : { url: sign_in_url, key: sign_in_key };
  if (!sandbox && signInPage === undefined) return [];
  const respond: PageRoute["respond"] = (...given) => respondFor(signInPage, ...given);
  return [
    { surface: "base", path: "/dialog/oauth", respond },
    { surface: "social_login", path: "/oauth/authorize", respond },
  ];
}

async function respondFor(
  page: SignInPage | undefined,
  request: Request,
  { world, surface, baseUrl }: RouteDestination,
  form: URLSearchParams | undefined,
): Promise<Response> {
  const kept = cookieOf(request);
  const browser = kept ?? randomSecret(COOKIE_BYTES);
  const address = new URL(request.url);
  const signIn = page === undefined ? undefined : { ...page, address, nowSeconds: Math.floor(realNowMs() / 1_000) };
  const answer =
    form === undefined
      ? await openDialog(world, surface, address.searchParams, browser, signIn)
      : await answerDialog(world, surface, form, browser, page === undefined);
  const cookie = `${COOKIE}=${browser}; HttpOnly; SameSite=Lax; Path=/${baseUrl.startsWith("https:") ? "; Secure" : ""}`;
  const isBound = answer.kind === "form" || answer.kind === "sign_in";
  const headers = { ...HEADERS, ...(kept === undefined && isBound ? { "set-cookie": cookie } : {}) };
  if (answer.kind === "redirect" || answer.kind === "sign_in")
    return new Response(null, { status: 303, headers: { ...headers, location: answer.location } });
  const nonce = randomSecret(NONCE_BYTES);
  return new Response(answer.kind === "problem" ? problemPage(answer.text, nonce) : formPage(answer, nonce), {
    status: answer.kind === "problem" ? 400 : 200,
    headers: { ...headers, "content-security-policy": policyOf(nonce, answer.kind === "form" ? answer.redirect_uri : undefined) },
  });
}

function cookieOf(request: Request): string | undefined {
  for (const pair of (request.headers.get("cookie") ?? "").split(";")) {
    const [name = "", value = ""] = pair.trim().split("=");
    if (name === COOKIE && COOKIE_VALUE.test(value)) return value;
  }
  return undefined;
}

/** Returns the Content-Security-Policy. Browsers also apply `form-action` to the redirect after the form, so the policy names the app's address. */
function policyOf(nonce: string, redirectUri: string | undefined): string {
  const url = redirectUri === undefined ? null : URL.parse(redirectUri);
  const target = url === null ? "" : url.origin === "null" ? ` ${url.protocol}` : ` ${url.origin}`;
  return `default-src 'none'; style-src 'nonce-${nonce}'; form-action 'self'${target}; frame-ancestors 'none'; base-uri 'none'`;
}

const STYLE =
  "body{font:16px/1.5 system-ui,sans-serif;max-width:30rem;margin:3rem auto;padding:0 1rem;overflow-wrap:anywhere}fieldset{min-width:0;border:1px solid #8886;margin:1rem 0;padding:.5rem 1rem}" +
  "label{display:block;margin:.3rem 0}button{font:inherit;padding:.4rem 1rem;margin-right:.5rem}";

const pageOf = (title: string, nonce: string, body: string, style = ""): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${title}</title><style nonce="${nonce}">${STYLE}${style}</style></head><body><main>${body}</main></body></html>`;

const problemPage = (text: string, nonce: string): string => pageOf("Login", nonce, `<h1>This login cannot continue</h1><p>${escapedHtml(text)}</p>`);

/**
 * Returns styles that hide the checkboxes of those permissions that the dialog does not request from the chosen person. The server itself checks
 * which permissions are granted, whatever the browser shows.
 */
const hiddenBoxes = ({ people, scopes }: Form): string =>
  people
    .filter(({ declined }) => declined.length > 0)
    .map(({ id, declined }) => {
      const boxes = declined.map((scope) => `.s${scopes.indexOf(scope)}`).join(",");
      return `form:has(#p${id}:checked) :is(${boxes}${declined.length === scopes.length ? ",.asked" : ""}){display:none}`;
    })
    .join("");

function formPage(form: Form, nonce: string): string {
  const { app, people, scopes, form_token, isSignedIn } = form;
  const choices = people.map(({ id, name, declined }, at) => {
    const note = declined.length === 0 ? "" : `; declined before: ${declined.join(", ")}`;
    return `<label><input type="radio" name="person" id="p${id}" value="${id}"${at === 0 ? " checked" : ""}> ${escapedHtml(name)} <small>${id}${note}</small></label>`;
  });
  const hasDeclined = people.some(({ declined }) => declined.length > 0);
  const further = `<label>Another person, by id <input name="person_id" inputmode="numeric" pattern="[0-9]*" autocomplete="off"></label>`;
  const unasked = isSignedIn ? (people[0]?.declined ?? []) : [];
  const asked = scopes.flatMap((scope, at) =>
    unasked.includes(scope) ? [] : `<label class="s${at}"><input type="checkbox" name="scope" value="${scope}" checked> ${scope}</label>`,
  );
  return pageOf(
    "Log in",
    nonce,
    `<h1>Log in to ${escapedHtml(app === "" ? "the app" : app)}</h1>
<form method="post"><input type="hidden" name="form_token" value="${escapedHtml(form_token)}">
${isSignedIn ? people.map(({ id, name }) => `<p>You are ${escapedHtml(name)} <small>${id}</small></p>`).join("") : `<fieldset><legend>Who are you?</legend>${choices.join("")}${people.length === PEOPLE_SHOWN_MAX || people.length === 0 ? further : ""}</fieldset>`}
${asked.length === 0 ? "" : `<fieldset class="asked"><legend>The app may have</legend>${asked.join("")}</fieldset>`}
<button name="action" value="allow">Continue</button><button name="action" value="cancel" formnovalidate>Cancel</button></form>
<p><small>${isSignedIn ? "" : "This is a sandbox, so you choose who you are. "}Clear a permission to decline it.${
      hasDeclined ? " The app asks again for declined permissions if it opens this page with auth_type=rerequest." : ""
    }</small></p>`,
    isSignedIn ? "" : hiddenBoxes(form),
  );
}
