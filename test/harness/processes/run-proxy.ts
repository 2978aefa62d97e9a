import { afterThisTest } from "../cleanup.ts";
import { needs } from "./needs.ts";

needs("nginx", "haproxy");

const PATH = `${process.env.PATH}:/usr/sbin`;

/** Runs nginx or HAProxy until the test ends. The promise resolves when the proxy accepts connections on `port`. */
export async function runProxy(name: string, command: readonly string[], port: number, environment: Record<string, string> = {}): Promise<void> {
  const child = Bun.spawn([...command], { stdin: "ignore", stdout: "ignore", stderr: "pipe", env: { ...environment, PATH } });
  afterThisTest(async () => {
    child.kill("SIGKILL");
    await child.exited;
  });
  while (!(await isAccepting(port))) {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}: ${await new Response(child.stderr).text()}`);
    await Bun.sleep(20);
  }
}

async function isAccepting(port: number): Promise<boolean> {
  try {
    const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } });
    socket.end();
    return true;
  } catch {
    return false;
  }
}
