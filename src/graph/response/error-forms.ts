/** Renders errors in the step `render`. Errors of page messaging have the flat form, and all other errors have the wrapped form (D-20). */
import type { GraphError } from "#kernel/errors";
import type { ErrorForm } from "../contract/operation.ts";

export interface RenderedError {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Record<string, unknown>;
}

export function renderError(error: GraphError, form: ErrorForm, profile: "strict" | "clients", traceId: string): RenderedError {
  const { entry, details } = error;
  const isFlat = form === "flat";
  const status = isFlat ? (entry.flatStatus ?? entry.status) : entry.status;
  const fields: Record<string, unknown> = {
    message: error.message,
    type: entry.type,
    code: isFlat ? (entry.flatCode ?? entry.code) : entry.code,
  };
  if (entry.subcode !== undefined) fields.error_subcode = entry.subcode;
  fields.is_transient = entry.isTransient ?? false;
  if (details.data !== undefined) fields.error_data = details.data;
  if (details.userTitle !== undefined) fields.error_user_title = details.userTitle;
  if (details.userMessage !== undefined) fields.error_user_msg = details.userMessage;
  fields.pftrace_id = traceId;

  const headers: Record<string, string> = { ...details.headers };
  // D-14: every response with the status 401 has this challenge in its header `WWW-Authenticate`.
  if (status === 401) headers["www-authenticate"] = `Bearer realm="Plaza", error="invalid_token", error_description="${quotable(error.message)}"`;
  // D-20 [clients]: the response has the error object also under `error`. The key `error` comes first, because libraries look for it at the beginning
  // of a response body.
  const body = isFlat ? (profile === "clients" ? { error: fields, ...fields } : fields) : { error: fields };
  return { status, headers, body };
}

/**
 * Makes the error message safe for a quoted string in a header. A quoted string in a header must not have quotes, backslashes or characters outside
 * ASCII.
 */
const quotable = (message: string): string => message.replace(/[^\x20-\x7e]|["\\]/g, " ");
