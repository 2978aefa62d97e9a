/** A client of the control API, typed by the API's OpenAPI document. */
import createClient, { type Middleware } from "openapi-fetch";
import type { components, paths } from "../../generated/control-api.d.ts";
import { currentKey, dropKey } from "../session/key.ts";

export type Schemas = components["schemas"];

/** Called after a response with status 401: the control key was replaced or has expired. */
let signedOut = (): void => {};
export const onSignedOut = (listener: () => void): void => {
  signedOut = listener;
};

export const authorization = (): Record<string, string> => ({ authorization: `Bearer ${currentKey() ?? ""}` });

export function refused(status: number): void {
  if (status !== 401) return;
  dropKey();
  signedOut();
}

const withKey: Middleware = {
  onRequest({ request }) {
    request.headers.set("authorization", `Bearer ${currentKey() ?? ""}`);
    return request;
  },
  onResponse({ response }) {
    refused(response.status);
    return undefined;
  },
};

export const api = createClient<paths>({ baseUrl: location.origin });
api.use(withKey);

export class ApiProblem extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly parameter?: string,
  ) {
    super(message);
  }
}

interface ErrorBody {
  readonly error?: { readonly message?: string; readonly parameter?: string | undefined };
}

/** Reads the JSON of a response, for routes that can also respond with a stream of events. Throws an `ApiProblem` with the server's message. */
export async function dataOf<T>(request: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<Exclude<T, string>> {
  const { data, error, response } = await request;
  if (data !== undefined && response.ok) return data as Exclude<T, string>;
  const { message, parameter } = (error as ErrorBody | undefined)?.error ?? {};
  throw new ApiProblem(message ?? `the server responded with ${response.status}`, response.status, parameter);
}

/** Returns whether the server accepts a control key. Throws if the console cannot reach the server. */
export async function isKeyValid(key: string): Promise<boolean> {
  // Headers and control keys consist of these characters only.
  if (!/^[\x21-\x7e]+$/.test(key)) return false;
  return (await fetch("/v1/server", { headers: { authorization: `Bearer ${key}` } })).ok;
}
