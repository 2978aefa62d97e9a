/** The errors of the interface (D-14, D-21) as data, and the two forms in which they are sent (D-20). */

interface CatalogueEntry {
  readonly status: number;
  readonly code: number;
  readonly subcode?: number;
  readonly type?: "GraphMethodException";
  /** The status or the code that the flat form of an error has, if they differ from those of the wrapped form. */
  readonly flat?: { readonly status?: number; readonly code?: number };
}

export const catalogue = {
  permissionMissing: { status: 403, code: 10 },
  taskMissing: { status: 403, code: 200 },
  tokenMissing: { status: 401, code: 104, flat: { status: 403, code: 190 } },
  tokenInvalid: { status: 401, code: 190, flat: { status: 403 } },
  tokenExpired: { status: 401, code: 190, subcode: 463, flat: { status: 403 } },
  tokenRevoked: { status: 401, code: 190, subcode: 466, flat: { status: 403 } },
  tokenOfOtherApp: { status: 401, code: 190, subcode: 458, flat: { status: 403 } },
  invalidParameter: { status: 400, code: 100 },
  unsupportedRequest: { status: 400, code: 100, subcode: 33, type: "GraphMethodException" },
  unknownObject404: { status: 404, code: 803 },
  fieldUnavailable: { status: 422, code: 100 },
  unknownPath: { status: 400, code: 2500 },
  versionDeprecated: { status: 400, code: 2635 },
  handshakeFailed: { status: 400, code: 2200 },
  challengeMismatch: { status: 400, code: 2201 },
  foreignPage: { status: 403, code: 200 },
  bodyTooLarge: { status: 413, code: 100 },
  headersTooLarge: { status: 431, code: 100 },
  unknownUser: { status: 400, code: 100, subcode: 2018001 },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorName = keyof typeof catalogue;
export type Form = "flat" | "wrapped";

export interface Failure {
  readonly error: ErrorName;
  readonly form: Form;
  readonly status: number;
  /** The members of the error object, without message, trace id and data. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** `error_data` has at least these keys. */
  readonly data: Readonly<Record<string, unknown>>;
}

export function failure(form: Form, error: ErrorName, data: Readonly<Record<string, unknown>> = {}): Failure {
  const { status, code, subcode, type, flat }: CatalogueEntry = catalogue[error];
  const isFlat = form === "flat";
  return {
    error,
    form,
    status: (isFlat ? flat?.status : undefined) ?? status,
    fields: {
      type: type ?? "OAuthException",
      code: (isFlat ? flat?.code : undefined) ?? code,
      is_transient: false,
      ...(subcode === undefined ? {} : { error_subcode: subcode }),
    },
    data,
  };
}
