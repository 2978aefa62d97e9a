/** Serves the login dialog as a page (D-381): `/dialog/oauth` of the main host, and `/oauth/authorize` of the host of the alternate flow. */
import { answerDialog, type Form, openDialog, PEOPLE_SHOWN_MAX } from "#features/login";
import { randomSecret } from "#system";
import type { PageRoute, RouteDestination } from "./extra-routes.ts";

/** The cookie that binds a form to the browser that got it. It says nothing about who signed in. */
const COOKIE = "plaza_login";
/** 192 bits. */
const COOKIE_BYTES = 24;
const COOKIE_VALUE = /^[A-Za-z0-9_-]{32}$/;
const NONCE_BYTES = 12;

const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  // With no-referrer a browser would send the form with the origin null, which is refused. The app still does not see the address of the dialog.
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** `isSandbox`: in a sandbox the person chooses who she is. Elsewhere nothing says who signed in, so there is no dialog. */
export const loginRoutes = (isSandbox: boolean): readonly PageRoute[] =>
  isSandbox
    ? [
        { surface: "base", path: "/dialog/oauth", respond },
        { surface: "social_login", path: "/oauth/authorize", respond },
      ]
    : [];

async function respond(request: Request, destination: RouteDestination, form: URLSearchParams | undefined): Promise<Response> {
  const { world, surface } = destination;
  const kept = cookieOf(request);
  const browser = kept ?? randomSecret(COOKIE_BYTES);
  const { searchParams } = new URL(request.url);
  const answer = form === undefined ? await openDialog(world, surface, searchParams, browser) : await answerDialog(world, surface, form, browser);
  if (answer.kind === "redirect") return new Response(null, { status: 303, headers: { ...HEADERS, location: answer.location } });
  const nonce = randomSecret(NONCE_BYTES);
  const html = answer.kind === "problem" ? problemPage(answer.text, nonce) : formPage(answer, nonce);
  const cookie = `${COOKIE}=${browser}; HttpOnly; SameSite=Strict; Path=/${destination.baseUrl.startsWith("https:") ? "; Secure" : ""}`;
  return new Response(html, {
    status: answer.kind === "problem" ? 400 : 200,
    headers: {
      ...HEADERS,
      "content-security-policy": policyOf(nonce, answer.kind === "form" ? answer.redirect_uri : undefined),
      ...(kept === undefined && answer.kind === "form" ? { "set-cookie": cookie } : {}),
    },
  });
}

function cookieOf(request: Request): string | undefined {
  for (const pair of (request.headers.get("cookie") ?? "").split(";")) {
    const [name = "", value = ""] = pair.trim().split("=");
    if (name === COOKIE && COOKIE_VALUE.test(value)) return value;
  }
  return undefined;
}

/** Browsers apply `form-action` to the redirect after the form as well, so it names the app's address. */
function policyOf(nonce: string, redirectUri: string | undefined): string {
  const url = redirectUri === undefined ? null : URL.parse(redirectUri);
  const target = url === null ? "" : url.origin === "null" ? ` ${url.protocol}` : ` ${url.origin}`;
  return `default-src 'none'; style-src 'nonce-${nonce}'; form-action 'self'${target}; frame-ancestors 'none'; base-uri 'none'`;
}

const STYLE =
  "body{font:16px/1.5 system-ui,sans-serif;max-width:30rem;margin:3rem auto;padding:0 1rem}fieldset{border:1px solid #8886;margin:1rem 0;padding:.5rem 1rem}" +
  "label{display:block;margin:.3rem 0}button{font:inherit;padding:.4rem 1rem;margin-right:.5rem}code{overflow-wrap:anywhere}";

const pageOf = (title: string, nonce: string, body: string, style = ""): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${title}</title><style nonce="${nonce}">${STYLE}${style}</style></head><body><main>${body}</main></body></html>`;

const problemPage = (text: string, nonce: string): string => pageOf("Login", nonce, `<h1>This login cannot go on</h1><p>${escaped(text)}</p>`);

/** Hides the boxes of permissions that the chosen person is not asked for. The server decides all the same, whatever the browser shows. */
const hiddenBoxes = ({ people, scopes }: Form): string =>
  people
    .filter(({ declined }) => declined.length > 0)
    .map(({ id, declined }) => {
      const boxes = declined.map((scope) => `.s${scopes.indexOf(scope)}`).join(",");
      return `form:has(#p${id}:checked) :is(${boxes}${declined.length === scopes.length ? ",.asked" : ""}){display:none}`;
    })
    .join("");

function formPage(form: Form, nonce: string): string {
  const { app, people, scopes, form_token } = form;
  const choices = people.map(({ id, name, declined }, at) => {
    const note = declined.length === 0 ? "" : `; declined before: ${declined.join(", ")}`;
    return `<label><input type="radio" name="person" id="p${id}" value="${id}"${at === 0 ? " checked" : ""}> ${escaped(name)} <small>${id}${note}</small></label>`;
  });
  const hasDeclined = people.some(({ declined }) => declined.length > 0);
  const further = `<label>Another person, by id <input name="person_id" inputmode="numeric" pattern="[0-9]*" autocomplete="off"></label>`;
  const asked = scopes.map((scope, at) => `<label class="s${at}"><input type="checkbox" name="scope" value="${scope}" checked> ${scope}</label>`);
  return pageOf(
    "Log in",
    nonce,
    `<h1>Log in to ${escaped(app === "" ? "the app" : app)}</h1>
<form method="post"><input type="hidden" name="form_token" value="${escaped(form_token)}">
<fieldset><legend>Who are you?</legend>${choices.join("")}${people.length === PEOPLE_SHOWN_MAX || people.length === 0 ? further : ""}</fieldset>
${asked.length === 0 ? "" : `<fieldset class="asked"><legend>The app may have</legend>${asked.join("")}</fieldset>`}
<button name="action" value="allow">Continue</button><button name="action" value="cancel" formnovalidate>Cancel</button></form>
<p><small>This is a sandbox, so you choose who you are. Clear a permission to decline it.${
      hasDeclined ? " The app asks again for declined permissions if it opens this page with auth_type=rerequest." : ""
    }</small></p>`,
    hiddenBoxes(form),
  );
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
