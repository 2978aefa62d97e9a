import { queryOptions } from "@tanstack/react-query";
import { api, dataOf } from "../../api/client.ts";
import type { ListPage } from "../../api/lists.ts";

const LIMIT = 100;

export const readUploads = (w: string, feed: string, after: string | undefined) =>
  dataOf(
    api.GET("/v1/worlds/{w}/feeds/{id}/uploads", {
      params: { path: { w, id: feed }, query: after === undefined ? { limit: LIMIT } : { limit: LIMIT, after } },
    }),
  );

export type Upload = Awaited<ReturnType<typeof readUploads>> extends ListPage<infer Row> ? Row : never;

/** The time that a request waits for the upload to end, so that a running upload is shown as soon as it ends. */
const WITHIN_MS = 30_000;
/** The pause between two requests that wait for the same upload, if its file takes longer than one request waits. */
const AGAIN_MS = 1_000;

export const uploadQuery = (w: string, feed: string, n: number) =>
  queryOptions({
    queryKey: ["uploads", w, feed, n],
    queryFn: () =>
      dataOf(api.GET("/v1/worlds/{w}/feeds/{id}/uploads/{n}", { params: { path: { w, id: feed, n: String(n) }, query: { within_ms: WITHIN_MS } } })),
    refetchInterval: ({ state }) => (state.data === undefined || state.data.status === "done" || state.data.status === "failed" ? false : AGAIN_MS),
  });

export interface Chosen {
  readonly file: File | undefined;
  readonly url: string;
  readonly isUpdate: boolean;
}

function formOf(file: File): FormData {
  const form = new FormData();
  form.set("file", file);
  return form;
}

/** Starts an upload. Sends a chosen file with its name in a form, or sends the address from which the server reads the file. */
export const startUpload = (w: string, feed: string, { file, url, isUpdate }: Chosen) =>
  dataOf(
    api.POST("/v1/worlds/{w}/feeds/{id}/uploads", {
      params: { path: { w, id: feed }, query: { update_only: isUpdate } },
      body: { url },
      bodySerializer: (body: unknown) => (file === undefined ? JSON.stringify(body) : formOf(file)),
    }),
  );
