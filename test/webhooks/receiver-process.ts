/** Starts an independent receiver of webhooks in a process of its own. */
import { expect } from "bun:test";
import { afterThisTest } from "#harness/cleanup";
import type { LogEntry } from "./webhook-receiver.ts";

/** The secret of the app whose webhooks the receiver gets. */
export const SECRET = "s3cret";

export interface ReceiverProcess {
  readonly url: string;
  /** The webhooks that the receiver has received since the previous call. */
  log(): Promise<LogEntry[]>;
  fail(share: number): Promise<void>;
}

export async function startReceiverProcess(failingShare: number): Promise<ReceiverProcess> {
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/webhook-receiver.ts`, SECRET, String(failingShare)], {
    stdout: "pipe",
    stderr: "inherit",
  });
  afterThisTest(async () => {
    child.kill("SIGKILL");
    await child.exited;
  });
  const { value } = await child.stdout.getReader().read();
  const origin = new TextDecoder().decode(value).trim();
  return {
    url: `${origin}/hook`,
    async log() {
      const { log, wrong } = (await (await fetch(`${origin}/log`)).json()) as { log: LogEntry[]; wrong: string[] };
      expect(wrong).toEqual([]);
      return log;
    },
    fail: async (share) => void (await fetch(`${origin}/share?failing=${share}`)),
  };
}
