/** Lists, page by page. */

export interface ListPage<Item> {
  readonly data: readonly Item[];
  readonly paging?: { readonly cursors: { readonly before?: string; readonly after?: string }; readonly previous?: string; readonly next?: string };
}

/**
 * A list that has not been read yet. `await list` reads its first page; `for await (const item of list)` reads all items, and
 * `for await (const page of list.pages())` all pages. Pages are requested when they are needed.
 */
export interface List<P extends ListPage<unknown>> extends AsyncIterable<P["data"][number]>, PromiseLike<P> {
  pages(): AsyncIterableIterator<P>;
}

/** Parameters of the link that the client sets itself. */
const CREDENTIALS: ReadonlySet<string> = new Set(["access_token", "oauth_token", "appsecret_proof"]);

/** `read` takes what is to be asked beside the list's own parameters. */
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
    // A list is awaited for its first page.
    // biome-ignore lint/suspicious/noThenProperty: it is a PromiseLike on purpose.
    then: (fulfilled, rejected) => read({}).then(fulfilled, rejected),
    async *[Symbol.asyncIterator]() {
      for await (const { data } of pages()) yield* data;
    },
  };
}

/** An empty or short page is not the end; a page without `next` is. The link is asked at the client's own address, with its own token. */
function linkOf({ paging }: ListPage<unknown>): Record<string, string> | undefined {
  if (paging?.next === undefined) return undefined;
  return Object.fromEntries([...new URL(paging.next).searchParams].filter(([name]) => !CREDENTIALS.has(name)));
}

/** A list with cursors alone ends with a page without items. */
function cursorOf({ data, paging }: ListPage<unknown>): Record<string, string> | undefined {
  const after = paging?.cursors.after;
  return after === undefined || data.length === 0 ? undefined : { after };
}
