/** Runs commands of the pages that do not end by themselves: servers, and receivers of webhooks. */
import { join } from "node:path";
import { newFolder } from "../cli/plaza-process.ts";

const ROOT = join(import.meta.dir, "../..");

/** Variables for a further server beside the page's own: it gets its own data and ports, unless its command names them. */
const ownPlace = () => ({ PLAZA_DATA: join(newFolder(), "data"), PLAZA_PORT: "0", PLAZA_CONTROL_PORT: "0", PLAZA_RTMP_PORT: "off" });

interface Service {
  readonly command: string;
  readonly running: Bun.Subprocess<"ignore", "pipe", "pipe">;
  /** The id of the shell, or of the server that npm has started. */
  readonly pid: number;
}

const services: Service[] = [];

/** Starts the command. Resolves when the server or receiver serves, or with the problem if it does not. */
export async function startService(command: string, cwd: string, env: Readonly<Record<string, string>>): Promise<string | undefined> {
  const isServer = /\bstart\b/.test(command);
  const running = Bun.spawn(["bash", "-c", `set -e\n${command.replace("bin/plaza listen", "exec $&")}`], {
    cwd: command.startsWith("npm ") ? ROOT : cwd,
    env: { ...env, ...(isServer ? ownPlace() : {}) },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  // A server prints to stderr that it is ready, a receiver prints to stdout.
  const [said, beside] = isServer ? [running.stderr, running.stdout] : [running.stdout, running.stderr];
  const besides = new Response(beside).text();
  const line = await lineOf(said, (text) => !isServer || text.includes('"msg":"ready"'));
  if (line === undefined) return `it ended with ${await running.exited}: ${await besides}`;
  services.push({ command, running, pid: isServer ? (JSON.parse(line) as { pid: number }).pid : running.pid });
  return undefined;
}

/**
 * The first line for which `isAsked` returns true. The function also reads the rest of the stream, so that the program never has to wait for a
 * reader.
 */
function lineOf(stream: ReadableStream<Uint8Array>, isAsked: (line: string) => boolean): Promise<string | undefined> {
  const found = Promise.withResolvers<string | undefined>();
  const read = async (): Promise<void> => {
    let text = "";
    for await (const part of stream) {
      text += new TextDecoder().decode(part);
      const lines = text.split("\n");
      text = lines.pop() ?? "";
      const line = lines.find(isAsked);
      if (line !== undefined) found.resolve(line);
    }
    found.resolve(undefined);
  };
  void read();
  return found.promise;
}

/** Ends all commands. Returns the programs that did not end as they should. */
export async function endServices(): Promise<string[]> {
  const problems: string[] = [];
  for (const { command, running, pid } of services.splice(0)) {
    process.kill(pid, "SIGTERM");
    const code = await running.exited;
    if (code !== 0) problems.push(`${command} ended with ${code}`);
  }
  return problems;
}
