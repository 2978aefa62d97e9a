import type { AppFacts } from "#auth/app-facts";
import type { Token } from "#auth/token";

/** The sender of a request: the token that was checked, and its app. */
export interface Caller {
  readonly token: Token;
  readonly app: AppFacts;
}
