/** Reads the error in a response's body, and finds the entries of the catalogue that explain it. */

interface GraphErrorBody {
  readonly message?: string;
  readonly code?: number;
  readonly error_subcode?: number;
  readonly error_user_msg?: string;
  readonly error_data?: { readonly parameter?: string };
}

/** The error in a response body, in both of its forms: the whole body is the error, or the object below `error` is. */
export function errorIn(text: string): GraphErrorBody | undefined {
  try {
    const body = JSON.parse(text) as GraphErrorBody & { readonly error?: GraphErrorBody };
    return typeof body.error === "object" ? body.error : body;
  } catch {
    return undefined;
  }
}

/** The reason why a request was refused, as a sentence: the server's reason, or else the message of the response. */
export function reasonOf(request: { readonly reason?: string | undefined; readonly response_body?: string | undefined }): string | undefined {
  const said = request.response_body === undefined ? undefined : errorIn(request.response_body);
  return request.reason ?? said?.error_user_msg ?? said?.message;
}

interface CatalogueEntry {
  readonly name: string;
  readonly code: number;
  readonly flat_code?: number | undefined;
  readonly subcode?: number | undefined;
  readonly status: number;
  readonly flat_status?: number | undefined;
}

interface Refused {
  readonly status: number;
  readonly said: GraphErrorBody | undefined;
  readonly story?: { readonly error?: string | undefined; readonly fault?: string | undefined } | undefined;
}

export function entriesOf<T extends CatalogueEntry>(catalogue: readonly T[] | undefined, { status, said, story }: Refused): readonly T[] {
  // The catalogue of errors gives no cause for an error that a fault caused.
  if (catalogue === undefined || (story?.fault !== undefined && story.error === "internalError")) return [];
  if (story?.error !== undefined) return catalogue.filter(({ name }) => name === story.error);
  return catalogue.filter(
    ({ code, flat_code, subcode, status: own, flat_status }) =>
      [code, flat_code].includes(said?.code) && subcode === said?.error_subcode && [own, flat_status].includes(status),
  );
}
