/** Reads lists of the graph page by page. */

export interface ListPage<Item> {
  readonly data: readonly Item[];
  readonly paging?: { readonly cursors: { readonly before?: string; readonly after?: string }; readonly previous?: string; readonly next?: string };
}

/**
 * A list that the client has not read yet. `await list` reads the first page, `for await (const item of list)` reads all items, and `for await (const
 * page of list.pages())` reads all pages. The client requests each page when the program needs it.
 */
export interface List<P extends ListPage<unknown>> extends AsyncIterable<P["data"][number]>, PromiseLike<P> {
  pages(): AsyncIterableIterator<P>;
}

/** The parameters that the client removes from a link to the next page, because the client adds its own credentials. */
const CREDENTIALS: ReadonlySet<string> = new Set(["access_token", "oauth_token", "appsecret_proof"]);

/** Makes a list. `read` reads one page, with the given parameters in addition to those of the list. */
export function listOf<P extends ListPage<unknown>>(read: (further: Readonly<Record<string, string>>) => Promise<P>, hasLinks: boolean): List<P> {
  const pages = async function* (): AsyncGenerator<P> {
    let further: Record<string, string> = {};
    for (;;) {
      const page = await read(further);
      yield page;
      const next = hasLinks ? linkOf(page) : cursorOf(page);
      if (next === undefined) return;
      if (JSON.stringify(next) === JSON.stringify(further)) throw new Error("the server's list leads to the same page again and again");
      further = next;
    }
  };
  return {
    pages,
    // `await` on a list reads the first page of the list.
    // biome-ignore lint/suspicious/noThenProperty: it is a PromiseLike on purpose.
    then: (fulfilled, rejected) => read({}).then(fulfilled, rejected),
    async *[Symbol.asyncIterator]() {
      for await (const { data } of pages()) yield* data;
    },
  };
}

/**
 * Returns the parameters of the link to the next page. A page without `next` is the last page of a list, but an empty or short page need not be the
 * last page. The client sends the parameters of the link to its own address, with its own token.
 */
function linkOf({ paging }: ListPage<unknown>): Record<string, string> | undefined {
  if (paging?.next === undefined) return undefined;
  return Object.fromEntries([...new URL(paging.next).searchParams].filter(([name]) => !CREDENTIALS.has(name)));
}

/** Returns the cursor of the next page if the list has cursors but no links. A list without links ends with an empty page. */
function cursorOf({ data, paging }: ListPage<unknown>): Record<string, string> | undefined {
  const after = paging?.cursors.after;
  return after === undefined || data.length === 0 ? undefined : { after };
}
