/** Runs Plaza in a process of its own, and collects everything by which an operator learns of a problem. */
import { openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterThisTest } from "#harness/cleanup";
import { temporaryFolder } from "#harness/server";

const PROGRAM = join(import.meta.dir, "../../../bin/plaza");
const CONTROL_KEY = "key-of-the-operator";
const PAGE_TOKEN = "demo-page-token";

export interface Said {
  /** The lines of the log with the levels `warn` and `error`. */
  readonly log: readonly Readonly<Record<string, unknown>>[];
  readonly readyz: { readonly status: number; readonly text: string };
  /** The output of `plaza status`. */
  readonly status: string;
  readonly metrics: string;
}

export interface WatchedPlaza {
  readonly pid: number;
  /** Creates a label with this name. Resolves with the status of the response. */
  createLabel(name: string): Promise<number>;
  readLabels(): Promise<number>;
  readPersonas(): Promise<number>;
  said(): Promise<Said>;
  /**
   * Waits until the server's reports are as wanted. If the reports never become so, the time limit of the test ends the waiting, and `expected` shows
   * the last reports.
   */
  says(isWanted: (said: Said) => boolean): Promise<Said>;
  control(method: string, path: string, body?: unknown): Promise<{ status: number; text: string }>;
}

const environment = (more: Readonly<Record<string, string>>) => ({ PATH: process.env.PATH ?? "", PLAZA_CONTROL_KEY: CONTROL_KEY, ...more });

function spawn(args: readonly string[], more: Readonly<Record<string, string>>, within: readonly string[]) {
  const folder = temporaryFolder();
  const logFile = join(folder, "log");
  const child = Bun.spawn([...within, PROGRAM, "start", "--json", "--port", "0", "--control-port", "0", "--rtmp-port", "off", "--quiet", ...args], {
    ...{ cwd: folder, env: environment(more), stdin: "ignore", stdout: "pipe", stderr: openSync(logFile, "w") },
  });
  afterThisTest(async () => {
    child.kill("SIGKILL");
    await child.exited;
  });
  return { child, log: () => readFileSync(logFile, "utf8") };
}

/** Starts Plaza. `within` is the command of a program that starts Plaza with limits of the system. */
export async function startWatched(
  args: readonly string[],
  more: Readonly<Record<string, string>> = {},
  within: readonly string[] = [],
): Promise<WatchedPlaza> {
  const { child, log } = spawn(args, more, within);
  const reader = child.stdout.getReader();
  let line = "";
  while (!line.includes("\n")) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`it ended with ${await child.exited}: ${log()}`);
    line += new TextDecoder().decode(value);
  }
  const { base_url, control_url, pid } = JSON.parse(line) as { base_url: string; control_url: string; pid: number };
  const credentials = `access_token=${PAGE_TOKEN}&oauth_token=${PAGE_TOKEN}`;
  const page = (path: string, init: RequestInit = {}) =>
    fetch(`${base_url}/v26.0/2001/${path}&${credentials}`, { ...init, headers: { authorization: `Bearer ${PAGE_TOKEN}` } });
  const said = async (): Promise<Said> => {
    const status = Bun.spawn([PROGRAM, "status", "--control-url", control_url], {
      ...{ cwd: temporaryFolder(), env: environment({}), stdout: "pipe", stderr: "pipe" },
    });
    const readyz = await fetch(`${control_url}/readyz`);
    return {
      log: log()
        .split("\n")
        .filter((text) => text.startsWith("{"))
        .map((text) => JSON.parse(text) as Record<string, unknown>)
        .filter(({ level }) => level === "warn" || level === "error"),
      readyz: { status: readyz.status, text: await readyz.text() },
      status: (await new Response(status.stdout).text()) + (await new Response(status.stderr).text()),
      metrics: await (await fetch(`${control_url}/metrics`)).text(),
    };
  };
  return {
    ...{ pid, said },
    async createLabel(name) {
      const response = await page("custom_labels?", { method: "POST", body: new URLSearchParams({ page_label_name: name }) });
      await response.text();
      return response.status;
    },
    async readLabels() {
      const response = await page("custom_labels?limit=1");
      await response.text();
      return response.status;
    },
    async readPersonas() {
      const response = await page("personas?limit=1");
      await response.text();
      return response.status;
    },
    async says(isWanted) {
      for (;;) {
        const now = await said();
        if (isWanted(now)) return now;
      }
    },
    async control(method, path, body) {
      const response = await fetch(`${control_url}/v1/${path}`, {
        ...{ method, headers: { authorization: `Bearer ${CONTROL_KEY}`, "content-type": "application/json" } },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, text: await response.text() };
    },
  };
}

/** Whether the log with a cause, `plaza status` and the metrics all report the problem. */
export const namesProblem =
  (kind: string) =>
  ({ log, status, metrics }: Said): boolean =>
    log.some(({ problem, cause }) => problem === kind && String(cause) !== "") &&
    metrics.includes(`plaza_database_problem{problem="${kind}"} 1`) &&
    status.includes("the last error: ");
