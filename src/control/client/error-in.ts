/** The error in a response of the graph, in either of the two forms of errors. */
export interface GraphErrorBody {
  readonly message?: string;
  readonly pftrace_id?: string;
  readonly error_data?: { readonly parameter?: string };
}

/** Reads the error in a body; undefined if the body has none, e.g. because it was cut. */
export function errorIn(body: string): GraphErrorBody | undefined {
  try {
    const found = JSON.parse(body) as { error?: GraphErrorBody } & GraphErrorBody;
    return found.error ?? (found.message === undefined ? undefined : found);
  } catch {
    return undefined;
  }
}
