/** Errors of the control API (docs/operating/control-api.md): `{error: {code, message, parameter?}}`. */

import { TakenProblem, WorldProblem } from "#graph/worlds/file/schema-words";
import { WorldFileProblem } from "#graph/worlds/file/text";
import { GraphError } from "#kernel/errors";

/** The HTTP status of each error code. */
export const controlCodes = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  body_too_large: 413,
  unprocessable: 422,
  internal_error: 500,
  unavailable: 503,
} as const;
export type ControlCode = keyof typeof controlCodes;

export class ControlError extends Error {
  constructor(
    readonly code: ControlCode,
    message: string,
    /** The name of the wrong parameter, or the path of the wrong value in the request body, e.g. `users[0]`. */
    readonly parameter?: string | undefined,
    /** Additional keys of the response, next to `error`. */
    readonly beside: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.name = "ControlError";
  }
}

export const badRequest = (message: string, parameter?: string): ControlError => new ControlError("bad_request", message, parameter);
export const notFound = (what: string): ControlError => new ControlError("not_found", `there is no ${what}`);
export const forbidden = (message: string, parameter?: string): ControlError => new ControlError("forbidden", message, parameter);
export const conflict = (message: string, parameter?: string): ControlError => new ControlError("conflict", message, parameter);
export const unprocessable = (message: string, parameter?: string, beside: Readonly<Record<string, unknown>> = {}): ControlError =>
  new ControlError("unprocessable", message, parameter, beside);

/** Translates an error of another layer into an error of the control API. Returns undefined if the error is not an expected one. */
export function controlErrorOf(error: unknown): ControlError | undefined {
  if (error instanceof ControlError) return error;
  if (error instanceof WorldFileProblem) return unprocessable(error.message, error.path === "" ? undefined : error.path);
  if (error instanceof TakenProblem) return conflict(error.message, error.path);
  if (error instanceof WorldProblem) return badRequest(error.message, error.path === "" ? undefined : error.path);
  if (!(error instanceof GraphError)) return undefined;
  if (error.errorName === "databaseUnreachable") return new ControlError("unavailable", "the database cannot be reached");
  // D-332: this error means that the greatest number of worlds is open, and that all of these worlds are in use.
  if (error.errorName === "overloaded") return new ControlError("unavailable", "too many worlds are in use: send the request again");
  if (error.entry.status >= 500) return undefined;
  const parameter = error.details.data?.parameter;
  return unprocessable(error.message, typeof parameter === "string" ? parameter : undefined);
}

export interface ErrorBody {
  readonly error: { readonly code: ControlCode; readonly message: string; readonly parameter?: string };
}

export const bodyOf = ({ code, message, parameter, beside }: ControlError): ErrorBody => ({
  error: { code, message, ...(parameter === undefined ? {} : { parameter }) },
  ...beside,
});
