/**
 * Facts that are derived from the head of a request. If several requests of a connection have equal heads, the facts about the head are derived only
 * once. Requests for many nodes often have equal queries, with the same fields and tokens, so the facts of a query are also cached.
 */

import { type ParsedPairs, parsePairs } from "#graph/request-text/pairs";
import { shownQuery } from "#graph/worlds/request-log";
import { BoundedMap } from "#kernel/bounded-map";
import { findHeader } from "#kernel/http-text/headers";
import type { PageGuard } from "#kernel/page-guard";
import type { RequestHead } from "./http1/request-head.ts";

/** The facts that depend only on the text of the query. */
interface QueryFacts {
  readonly query: ParsedPairs;
  /** The query without secrets, for the lines of the request log. */
  readonly shownQuery: string;
}

const QUERIES_MAX = 256;
/**
 * The size of the longest head whose query is cached. A query is a slice of the text of its head, so a cached query keeps the whole text of the head
 * in memory; all cached queries together keep at most 512 kB.
 */
const HEAD_BYTES_MAX = 2_048;

export interface HeadFacts extends QueryFacts {
  /** The reason why the web page may not send the request (D-240); undefined if the page may send it. */
  readonly pageRefusal: string | undefined;
}

export class HeadFactsCache {
  readonly #pages: PageGuard | undefined;
  readonly #facts = new WeakMap<RequestHead, HeadFacts>();
  readonly #queries = new BoundedMap<string, QueryFacts>(QUERIES_MAX);

  constructor(pages: PageGuard | undefined) {
    this.#pages = pages;
  }

  of(head: RequestHead, host: string): HeadFacts {
    let facts = this.#facts.get(head);
    if (facts === undefined) {
      const { method, headers, target } = head;
      const { query, shownQuery } = this.#queryFacts(target.queryText, head.byteCount <= HEAD_BYTES_MAX);
      facts = { query, shownQuery, pageRefusal: this.#pages?.refusalOf({ method, host, header: (name) => findHeader(headers, name) }) };
      this.#facts.set(head, facts);
    }
    return facts;
  }

  #queryFacts(text: string, isKept: boolean): QueryFacts {
    const known = this.#queries.get(text);
    if (known !== undefined) return known;
    const facts = { query: parsePairs(text, "The query"), shownQuery: shownQuery(text) };
    if (isKept) this.#queries.set(text, facts);
    return facts;
  }
}
