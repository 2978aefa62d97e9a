/** The step `render` for errors: the flat form of page messaging, and the wrapped form of all other operations (D-20). */
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
  // D-14: every 401 has this challenge.
  if (status === 401) headers["www-authenticate"] = `Bearer realm="Plaza", error="invalid_token", error_description="${quotable(error.message)}"`;
  // D-20 [clients]: the flat object is also under `error`, which comes first, because libraries look for that name at the beginning of a body.
  const body = isFlat ? (profile === "clients" ? { error: fields, ...fields } : fields) : { error: fields };
  return { status, headers, body };
}

/** Makes the message fit for a quoted string of a header, which may not have quotes, backslashes or characters beyond ASCII. */
const quotable = (message: string): string => message.replace(/[^\x20-\x7e]|["\\]/g, " ");
