/** A headless Chromium, controlled over its DevTools protocol. */
import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterThisTest } from "../cleanup.ts";
import { needs } from "../processes/needs.ts";
import { temporaryFolder } from "../server.ts";

needs("chromium");

/** The codes of keys other than letters and digits. */
const KEY_CODES: Readonly<Record<string, number>> = { Enter: 13, Escape: 27, Tab: 9, ArrowDown: 40, ArrowUp: 38, Home: 36, End: 35 };

/** The errors of the DevTools protocol that occur if the document of a frame was replaced before or during a command. */
const GONE = /Cannot find context with specified id|Inspected target navigated or closed|Execution context was destroyed/;

const BROWSERS = ["chromium", "google-chrome"];

/**
 * The time limit within which a page must show the value that a test waits for. This limit is shorter than the tests' own limits, so that a failed
 * test says what the page showed last.
 */
const WAIT_MS_MAX = 15_000;

export interface Page {
  /** The value of an expression in the frame whose address begins with `address`, once there is such a frame. Throws after `WAIT_MS_MAX`. */
  evaluate<T>(address: string, expression: string): Promise<T>;
  /**
   * Evaluates the expression until its value fits, and resolves with that value. After `WAIT_MS_MAX`, the function throws an error with the last
   * value.
   */
  evaluateUntil<T>(address: string, expression: string, fits: (value: T) => boolean): Promise<T>;
  /** Writes a screenshot of the page. */
  screenshot(path: string): Promise<void>;
  /** Presses and releases a key, by the name that scripts see (`Enter`, `k`). */
  press(key: string, modifier?: "Control"): Promise<void>;
  /** Types a text into the element that has the focus. */
  type(text: string): Promise<void>;
  /** Sends a command of the DevTools protocol. */
  send(method: string, params?: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>;
  /** The errors that the page threw, and the resources that the browser refused to load or run. */
  readonly problems: readonly string[];
}

interface ProtocolMessage {
  readonly id?: number;
  readonly method?: string;
  readonly params?: {
    readonly context?: Context;
    readonly executionContextId?: number;
    readonly entry?: { readonly level: string; readonly text: string };
    readonly exceptionDetails?: { readonly text: string; readonly exception?: { readonly description?: string } };
  };
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

interface Context {
  readonly id: number;
  readonly auxData: { readonly frameId: string; readonly isDefault: boolean };
}

/** Opens a page. `flags` are options of the browser in addition to those of every test. */
export async function openPage(url: string, flags: readonly string[] = []): Promise<Page> {
  const profile = temporaryFolder();
  const browser = BROWSERS.find((name) => Bun.which(name) !== null) ?? BROWSERS[0];
  const child = Bun.spawn(
    [
      ...[browser as string, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage"],
      ...[
        "--no-first-run",
        "--mute-audio",
        "--autoplay-policy=no-user-gesture-required",
        `--user-data-dir=${profile}`,
        "--remote-debugging-port=0",
        "--window-size=1300,760",
        ...flags,
        "about:blank",
      ],
    ],
    { stdin: "ignore", stdout: "ignore", stderr: "ignore" },
  );
  afterThisTest(async () => {
    child.kill("SIGKILL");
    await child.exited;
  });
  const connection = await Connection.open(await pageAddress(join(profile, "DevToolsActivePort")));
  await connection.send("Runtime.enable");
  await connection.send("Page.enable");
  await connection.send("Log.enable");
  await connection.send("Page.navigate", { url });
  return connection;
}

/** The address of the page that the browser opens first. Chromium writes its port to `file` once it listens on the port. */
async function pageAddress(file: string): Promise<string> {
  for (;;) {
    try {
      const port = readFileSync(file, "utf8").split("\n", 1)[0];
      const pages = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as { type: string; webSocketDebuggerUrl: string }[];
      const page = pages.find(({ type }) => type === "page");
      if (page !== undefined) return page.webSocketDebuggerUrl;
    } catch {}
    await Bun.sleep(50);
  }
}

class Connection implements Page {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (message: ProtocolMessage) => void>();
  readonly #contexts = new Map<number, Context>();
  readonly problems: string[] = [];
  #lastId = 0;
  #end: Error | undefined;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => this.#take(JSON.parse(String(data)) as ProtocolMessage));
    socket.addEventListener("close", () => this.#endWith("the browser has ended"));
  }

  static async open(address: string): Promise<Connection> {
    const socket = new WebSocket(address);
    await new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve);
      socket.addEventListener("error", reject);
    });
    return new Connection(socket);
  }

  send(method: string, params: Readonly<Record<string, unknown>> = {}): Promise<Readonly<Record<string, unknown>>> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      if (this.#end !== undefined) return reject(this.#end);
      this.#waiting.set(id, ({ result, error }) => (result === undefined ? reject(new Error(error?.message)) : resolve(result)));
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }

  async evaluate<T>(address: string, expression: string): Promise<T> {
    const until = performance.now() + WAIT_MS_MAX;
    for (;;) {
      for (const contextId of this.#contexts.keys()) {
        // If a frame was removed meanwhile, the browser returns no address for it.
        const at = await this.#valueIn<string>(contextId, "location.href").catch(() => "");
        if (!at.startsWith(address)) continue;
        try {
          return await this.#valueIn<T>(contextId, expression);
        } catch (error) {
          // The frame was loaded again after it had returned its address, so the evaluation was lost, and the code searches for the frame once more.
          if (!(error instanceof Error && GONE.test(error.message))) throw error;
        }
      }
      if (this.#end !== undefined) throw this.#end;
      if (performance.now() > until) throw new Error(`no frame shows ${address}`);
      await Bun.sleep(50);
    }
  }

  async evaluateUntil<T>(address: string, expression: string, fits: (value: T) => boolean): Promise<T> {
    const until = performance.now() + WAIT_MS_MAX;
    for (;;) {
      const value = await this.evaluate<T>(address, expression);
      if (fits(value)) return value;
      if (performance.now() > until) throw new Error(`${address} still shows ${JSON.stringify(value)}, as ${fits} refuses`);
      await Bun.sleep(50);
    }
  }

  async screenshot(path: string): Promise<void> {
    const { data } = await this.send("Page.captureScreenshot", { format: "png" });
    mkdirSync(dirname(path), { recursive: true });
    await Bun.write(path, Buffer.from(data as string, "base64"));
  }

  async press(key: string, modifier?: "Control"): Promise<void> {
    const code = KEY_CODES[key] ?? key.toUpperCase().charCodeAt(0);
    const text = key === "Enter" ? "\r" : key.length === 1 && modifier === undefined ? key : undefined;
    const event = { key, windowsVirtualKeyCode: code, modifiers: modifier === "Control" ? 2 : 0 };
    await this.send("Input.dispatchKeyEvent", {
      type: text === undefined ? "rawKeyDown" : "keyDown",
      ...event,
      ...(text === undefined ? {} : { text }),
    });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", ...event });
  }

  async type(text: string): Promise<void> {
    await this.send("Input.insertText", { text });
  }

  async #valueIn<T>(contextId: number, expression: string): Promise<T> {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { contextId, expression, returnByValue: true, awaitPromise: true });
    if (exceptionDetails !== undefined) throw new Error(`the page threw: ${JSON.stringify(exceptionDetails)}`);
    return (result as { value: T }).value;
  }

  /** Ends all waiting commands. Otherwise a test would wait until its time limit for the response of a page that no longer exists. */
  #endWith(message: string): void {
    this.#end ??= new Error(message);
    for (const settle of this.#waiting.values()) settle({ error: { message } });
    this.#waiting.clear();
  }

  #take(message: ProtocolMessage): void {
    const { id, method, params } = message;
    if (id !== undefined) {
      this.#waiting.get(id)?.(message);
      this.#waiting.delete(id);
    } else if (method === "Log.entryAdded" && params?.entry?.level === "error") this.problems.push(params.entry.text);
    else if (method === "Runtime.exceptionThrown")
      this.problems.push(params?.exceptionDetails?.exception?.description ?? params?.exceptionDetails?.text ?? "an exception");
    else if (method === "Runtime.executionContextCreated" && params?.context?.auxData.isDefault === true)
      this.#contexts.set(params.context.id, params.context);
    else if (method === "Runtime.executionContextDestroyed" && params?.executionContextId !== undefined)
      this.#contexts.delete(params.executionContextId);
    else if (method === "Runtime.executionContextsCleared") this.#contexts.clear();
    else if (method === "Inspector.targetCrashed") this.#endWith("the page has crashed");
  }
}
