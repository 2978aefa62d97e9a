/**
 * The parameters and headers in which a request may have tokens (D-10, D-12). Comments call these parameters and headers the places of tokens. In the
 * profile `clients` a token may be in any place of tokens.
 */
export type Place = "access_token" | "oauth_token" | "bearer" | "body" | "client";

/** The parameters and headers in which an operation looks for tokens. */
export interface Scheme {
  readonly places: readonly Place[];
  /**
   * `all` means that every parameter and header of the list must have a valid token (AUTH-1). `one` means that one valid token in any of them is
   * enough.
   */
  readonly need: "all" | "one";
  /** Further parameters or headers for tokens, which count only while the app of the first valid token is in `development` mode (AUTH-18, D-12). */
  readonly developmentOnly?: readonly Place[];
}

export const schemes = {
  /** AUTH-1 to AUTH-4. */
  pageMessaging: { places: ["access_token", "oauth_token", "bearer"], need: "all" },
  /** AUTH-5, AUTH-6, AUTH-8, AUTH-20. */
  bearer: { places: ["bearer"], need: "one" },
  /** AUTH-9, AUTH-15, AUTH-16. */
  query: { places: ["access_token"], need: "one" },
  /** AUTH-17, AUTH-18. */
  catalogCreation: { places: ["bearer", "access_token"], need: "one", developmentOnly: ["access_token"] },
  /** D-12: the scheme for operations for which the interface's document does not say which parameter or header has the token. */
  anywhere: { places: ["bearer", "access_token", "body"], need: "one" },
  /** D-382: the scheme for requests of the app itself, which have `client_id` and `client_secret` in the query or the request body. */
  client: { places: ["client"], need: "one" },
} as const satisfies Record<string, Scheme>;

export type SchemeName = keyof typeof schemes;

/** The parameters and headers in which a token may be in the profile `clients` (D-10, D-12). */
export const clientsScheme: Scheme = { places: ["bearer", "access_token", "oauth_token", "body"], need: "one" };

/** The name of each parameter or header for tokens, as error messages show the name. */
export const placeNames: Readonly<Record<Place, string>> = {
  access_token: "access_token",
  oauth_token: "oauth_token",
  bearer: "Authorization",
  body: "access_token",
  client: "client_secret",
};
