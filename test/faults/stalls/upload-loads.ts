/** Sends feed files at their limits to the control API and to the graph, and waits until the server has read them. */
import { feedFiles } from "./feed-files.ts";
import type { Load, Served } from "./load.ts";

const FEED = "8101";
/** The length of the feed files, which makes the server read each file in many parts. */
const FILE_BYTES = 4 * 1_048_576;

const asOperator = ({ control_key }: Served) => ({ authorization: `Bearer ${control_key}` });

interface Report {
  readonly n: number;
  readonly status: string;
}

/** Waits for the end of the feed's last upload, and returns its status. */
async function endOfUpload(server: Served, n: number | string, feed = FEED): Promise<string> {
  for (;;) {
    const address = `${server.control_url}/v1/worlds/default/feeds/${feed}/uploads/${n}?within_ms=10000`;
    const { status } = (await (await fetch(address, { headers: asOperator(server) })).json()) as Report;
    if (status === "done" || status === "failed") return status;
  }
}

export async function uploadFile(server: Served, file: string | Uint8Array, feed = FEED): Promise<string> {
  const address = `${server.control_url}/v1/worlds/default/feeds/${feed}/uploads`;
  const response = await fetch(address, { method: "POST", headers: asOperator(server), body: file as never });
  const { n } = (await response.json()) as Report;
  return response.ok ? endOfUpload(server, n, feed) : String(response.status);
}

async function uploadInGraph(server: Served, file: string | Uint8Array): Promise<string> {
  const form = new FormData();
  form.set("file", new Blob([file as never]), "books");
  const response = await fetch(`${server.base_url}/v25.0/${FEED}/uploads?access_token=full-page`, {
    method: "POST",
    headers: { authorization: "Bearer full-page" },
    body: form,
  });
  if (response.status !== 200) return String(response.status);
  const newest = `${server.control_url}/v1/worlds/default/feeds/${FEED}/uploads?limit=1`;
  const { data } = (await (await fetch(newest, { headers: asOperator(server) })).json()) as { data: Report[] };
  return endOfUpload(server, data[0]?.n ?? 0);
}

export const uploadLoads = (): Load[] =>
  Object.entries(feedFiles(FILE_BYTES)).flatMap(([shape, make]) => {
    let made: string | Uint8Array | undefined;
    const file = () => (made ??= make());
    return [
      { work: "upload", shape, send: (server: Served) => uploadFile(server, file()) },
      { work: "upload in the graph", shape, send: (server: Served) => uploadInGraph(server, file()) },
    ];
  });
