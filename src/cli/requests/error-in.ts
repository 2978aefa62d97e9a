/** The error of a response of the graph, in either of its forms. */
export interface GraphErrorBody {
  readonly message?: string;
  readonly pftrace_id?: string;
  readonly error_data?: { readonly parameter?: string };
}

/** Undefined for a body that has none, e.g. because it was cut. */
export function errorIn(body: string): GraphErrorBody | undefined {
  try {
    const found = JSON.parse(body) as { error?: GraphErrorBody } & GraphErrorBody;
    return found.error ?? (found.message === undefined ? undefined : found);
  } catch {
    return undefined;
  }
}
