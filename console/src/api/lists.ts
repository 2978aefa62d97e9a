/** Lists of the control API, page by page. */
import { type QueryKey, useInfiniteQuery } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";

export interface ListPage<T> {
  readonly data: readonly T[];
  readonly paging: { readonly next?: string | undefined };
}

export interface List<T> {
  readonly rows: readonly T[];
  readonly isLoaded: boolean;
  readonly error: Error | null;
  /** Reads the next page. Does nothing if the last page was already read. */
  readonly more: () => void;
}

const NOTHING: readonly never[] = [];

/** A list that is read page by page. `read` reads the page after the given cursor. */
export function useList<T>(queryKey: QueryKey, read: (after: string | undefined) => Promise<ListPage<T>>): List<T> {
  const { data, error, isFetchingNextPage, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => read(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ paging }) => (paging.next === undefined ? undefined : (new URL(paging.next).searchParams.get("after") ?? undefined)),
  });
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const rows = useMemo(() => data?.pages.flatMap((page) => page.data) ?? NOTHING, [data]);
  return { rows, isLoaded: data !== undefined, error, more };
}
