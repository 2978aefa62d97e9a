/** What is worked out once for a head: many requests of a connection have the same, and it is one object then. */
import { shownQuery } from "#graph/worlds/request-log";
import type { PageGuard } from "#kernel/page-guard";
import { type ParsedPairs, parsePairs } from "./body/pairs.ts";
import { findHeader } from "./http1/headers.ts";
import type { RequestHead } from "./http1/request-head.ts";

export interface HeadFacts {
  readonly query: ParsedPairs;
  /** For the request log. */
  readonly shownQuery: string;
  /** Why the web page that sent the request may not (D-240). */
  readonly pageRefusal: string | undefined;
}

export class HeadFactsCache {
  readonly #parametersMax: number;
  readonly #pages: PageGuard | undefined;
  readonly #facts = new WeakMap<RequestHead, HeadFacts>();

  constructor(parametersMax: number, pages: PageGuard | undefined) {
    this.#parametersMax = parametersMax;
    this.#pages = pages;
  }

  of(head: RequestHead, host: string): HeadFacts {
    let facts = this.#facts.get(head);
    if (facts === undefined) {
      const { method, headers, target } = head;
      facts = {
        query: parsePairs(target.queryText, "The query", this.#parametersMax),
        shownQuery: shownQuery(target.queryText),
        pageRefusal: this.#pages?.refusalOf({ method, host, header: (name) => findHeader(headers, name) }),
      };
      this.#facts.set(head, facts);
    }
    return facts;
  }
}
