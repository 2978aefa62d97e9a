/** `plaza feed upload`: sends a file to a product feed, and waits until the server has read the file. */
import { type FileHandle, open } from "node:fs/promises";
import { ReadableStream } from "node:stream/web";
import { ConfigProblem } from "#config/config";
import { type ControlRequests, resultOf } from "#control/client/requests";
import { show } from "./ask-route.ts";
import { type Given, withServer } from "./control-client.ts";
import { FAILED } from "./terminal/output.ts";
import { Progress } from "./terminal/progress.ts";

const MB = 1_000_000;
const PIECE_BYTES = 262_144;
/** The interval at which the progress line is written again. */
const LOOK_MS = 500;

interface Report {
  readonly n: number;
  readonly status: string;
  readonly rows: number;
}

/** Uploads the file and prints the report. Resolves with the exit code, which is 0 if the feed has the items of the file after the upload. */
export function uploadFeed(file: string, given: Given): Promise<number> {
  return withServer(given, async (control) => {
    const world = encodeURIComponent(String(given.world_name));
    const uploads = `/v1/worlds/${world}/feeds/${encodeURIComponent(String(given.feed))}/uploads`;
    const query = given.format === undefined ? "" : `?${new URLSearchParams({ format: String(given.format) })}`;
    const progress = new Progress(file);
    const handle = await opened(file);
    try {
      const headers = { "content-type": "application/octet-stream" };
      const body = ReadableStream.from(contentOf(handle, (sent, size) => progress.show(sent / MB, size / MB, "MB")));
      const { n } = (await resultOf(await control.send(uploads + query, { method: "POST", headers, body }))) as Report;
      const report = await ended(control, `${uploads}/${n}?within_ms=${LOOK_MS}`, progress);
      progress.end();
      show(report as object, given);
      return report.status === "done" ? 0 : FAILED;
    } finally {
      progress.end();
      await handle.close();
    }
  });
}

async function opened(file: string): Promise<FileHandle> {
  try {
    return await open(file);
  } catch (error) {
    throw new ConfigProblem("<file>", `${file} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

/** Reads the file in pieces, as fast as the server accepts them. */
async function* contentOf(handle: FileHandle, onSent: (sent: number, size: number) => void): AsyncGenerator<Uint8Array> {
  const { size } = await handle.stat();
  for (let sent = 0; ; ) {
    const piece = new Uint8Array(PIECE_BYTES);
    const { bytesRead } = await handle.read(piece);
    sent += bytesRead;
    onSent(sent, size);
    if (bytesRead === 0) return;
    yield piece.subarray(0, bytesRead);
  }
}

async function ended(control: ControlRequests, address: string, progress: Progress): Promise<Report> {
  for (;;) {
    const report = (await control.request("GET", address)) as Report;
    if (report.status === "done" || report.status === "failed") return report;
    progress.say(`${report.rows.toLocaleString("en")} rows read`);
  }
}
