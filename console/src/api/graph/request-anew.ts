/** Makes a new request from a request of the log, to show it as a curl command or to send it once more. */
import { forgetCopies } from "./identities.ts";

export interface Sendable {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export interface Logged {
  readonly method: string;
  readonly surface: string;
  readonly path: string;
  readonly query: string;
  readonly request_body: string;
  readonly story?: { readonly credentials: readonly { readonly place: string }[] } | undefined;
}

export interface Addresses {
  readonly base_url: string;
  readonly app_base_url: string;
  readonly microblog_base_url: string;
  readonly ads_base_url: string;
  readonly social_login_host: string;
}

export const addressOf = (server: Addresses, surface: string): string =>
  ({
    base: server.base_url,
    app: server.app_base_url,
    microblog: server.microblog_base_url,
    ads: server.ads_base_url,
    social_login: server.social_login_host,
  })[surface] ?? server.base_url;

/** The character by which the log marks a hidden secret, and the end of a text that was cut. */
const HIDDEN = "…";
const IN_QUERY = /(^|&)(access_token|oauth_token)=…/g;
const IN_JSON = /"access_token"\s*:\s*"…"/g;

/**
 * Puts `token` in place of each token in the request. Throws if the log lacks a part of the request: its text was cut, or it
 * has a secret that is not a token.
 */
export function requestAnew({ method, surface, path, query, request_body, story }: Logged, server: Addresses, token: string): Sendable {
  const value = encodeURIComponent(token);
  const anew = (text: string): string => text.replace(IN_QUERY, `$1$2=${value}`).replace(IN_JSON, `"access_token":${JSON.stringify(token)}`);
  const [newQuery, newBody] = [anew(query), anew(request_body)];
  if (path.includes(HIDDEN) || newQuery.includes(HIDDEN) || newBody.includes(HIDDEN))
    throw new Error("the log does not have the whole request: it is too long, or has a secret that is not a token");
  const isJson = /^\s*[[{]/.test(newBody);
  const hadBearer = story === undefined || story.credentials.some(({ place }) => place === "bearer");
  return {
    method,
    url: `${addressOf(server, surface)}${path}${newQuery === "" ? "" : `?${newQuery}`}`,
    headers: {
      ...(hadBearer ? { authorization: `Bearer ${token}` } : {}),
      ...(newBody === "" ? {} : { "content-type": isJson ? "application/json" : "application/x-www-form-urlencoded" }),
    },
    body: newBody === "" ? undefined : newBody,
  };
}

export interface Sent {
  readonly status: number;
  readonly trace: string | undefined;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

/** Sends a request to the graph. Throws if the console cannot reach the server. */
export async function send({ method, url, headers, body }: Sendable): Promise<Sent> {
  const response = await fetch(url, { method, headers: { ...headers }, ...(body === undefined ? {} : { body }), referrerPolicy: "no-referrer" });
  // The console's copy of the token may have expired because the world's clock was moved.
  if (response.status === 401 || response.status === 403) forgetCopies();
  const trace = response.headers.get("x-pf-trace-id") ?? undefined;
  return { status: response.status, trace, headers: [...response.headers], body: await response.text() };
}
