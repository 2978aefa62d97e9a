/** Starts `receiver-process.ts` and asks it what came. */
import { afterThisTest } from "#harness/cleanup";
import type { Arrived } from "./receiver-process.ts";

export interface Receiver {
  readonly url: string;
  /** Waits for so many webhooks and answers them, in the order in which they came; fails after 10 s. */
  receive(count: number): Promise<Arrived[]>;
  /** What came besides, without waiting. */
  handshakes(): Promise<{ path: string; verifyToken: string | null }[]>;
}

const WITHIN_MS = 10_000;

/** `secrets`: of the apps, by the path below which their callbacks stand. */
export async function startReceiverProcess(secrets: Record<string, string>): Promise<Receiver> {
  const child = Bun.spawn([process.execPath, new URL("receiver-process.ts", import.meta.url).pathname, JSON.stringify(secrets)], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  afterThisTest(async () => {
    child.kill("SIGKILL");
    await child.exited;
  });
  const { value } = await child.stdout.getReader().read();
  const url = new TextDecoder().decode(value).trim();
  const received = async () =>
    (await fetch(`${url}/received`)).json() as Promise<{ arrived: Arrived[]; handshakes: { path: string; verifyToken: string | null }[] }>;
  return {
    url,
    async receive(count) {
      const isThere = await fetch(`${url}/waiting?count=${count}`, { signal: AbortSignal.timeout(WITHIN_MS) }).then(
        () => true,
        () => false,
      );
      const { arrived } = await received();
      if (!isThere || arrived.length !== count)
        throw new Error(`${count} webhooks were expected, ${arrived.length} came: ${JSON.stringify(arrived)}`);
      return arrived;
    },
    handshakes: async () => (await received()).handshakes,
  };
}
