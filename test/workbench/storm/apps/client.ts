/** The client that all apps of this folder share. The client survives every fault of a request, unless an app configures it to make a mistake. */
import type { World, WorldFile } from "#testing/index";

export const world: WorldFile = {
  profile: "clients",
  apps: [{ id: "1001", name: "Shop", secret: "s3cret" }],
  users: [{ id: "3001", name: "Ada" }],
  pages: [
    {
      id: "2001",
      name: "Cafe",
      people: [{ psid: "9001" }],
      roles: [{ user: "3001", tasks: ["MESSAGING"] }],
      subscribed_apps: [{ app: "1001", subscribed_fields: ["custom_labels"] }],
    },
  ],
  chatapp_accounts: [{ id: "4001", subscribed_apps: [{ app: "1001" }] }],
  tokens: [{ token: "page-token", type: "page", app: "1001", page: "2001", user: "3001", scopes: ["pages_messaging"] }],
};

/** Each app can run with its mistake or without it. The promise rejects if the app did not reach its end. */
export type App = (world: World, hasMistake: boolean) => Promise<void>;

export interface Mistakes {
  /** The mistake: the client sends a write again after a lost response, without checking whether the first write took effect. */
  readonly isBlind?: boolean;
  /** The mistake: the client sends a refused request again at once. */
  readonly isImpatient?: boolean;
  /** The mistake: the client never requests a new token. */
  readonly keepsToken?: boolean;
  /** The mistake: the client treats an error of the server as final. */
  readonly ignores503?: boolean;
  /** The mistake: the client trusts the status of a response whose body did not arrive. */
  readonly trustsStatus?: boolean;
}

interface Named {
  readonly id: string;
  readonly name: string;
}

const ATTEMPTS_MAX = 8;
const IMPATIENT_ATTEMPTS_MAX = 500;
const BACKOFF_MS = 20;
const SESSION = 190;

export class Client {
  readonly #world: World;
  readonly #mistakes: Mistakes;
  #token = "page-token";

  constructor(platform: World, mistakes: Mistakes = {}) {
    this.#world = platform;
    this.#mistakes = mistakes;
  }

  createLabel = (name: string): Promise<Named> =>
    this.#create("2001/custom_labels", { page_label_name: name }, async () => (await this.labels()).find((label) => label.name === name));

  createPersona = (name: string): Promise<Named> =>
    this.#create("2001/personas", { name, profile_picture_url: "https://example.com/a.png" }, async () =>
      (await this.#list("2001/personas?fields=id,name")).find((persona) => persona.name === name),
    );

  /** Attaching a label twice has no further effect, so the client simply sends the request again. */
  attach = (label: string): Promise<unknown> => this.#send("POST", `${label}/label`, { user: "9001" });

  labels = (): Promise<Named[]> => this.#list("2001/custom_labels?fields=id,name");

  /** Reads the first page of the labels, for an app that reads no other pages. */
  firstLabels = async (): Promise<Named[]> => ((await this.#send("GET", "2001/custom_labels?fields=id,name")) as { data: Named[] }).data;

  async #list(path: string): Promise<Named[]> {
    const all: Named[] = [];
    for (let after = ""; ; ) {
      const { data, paging } = (await this.#send("GET", `${path}${after}`)) as { data: Named[]; paging?: { next?: string } };
      all.push(...data);
      if (paging?.next === undefined) return all;
      after = `&after=${encodeURIComponent(new URL(paging.next).searchParams.get("after") ?? "")}`;
    }
  }

  #create = (path: string, body: Readonly<Record<string, string>>, find: () => Promise<Named | undefined>): Promise<Named> =>
    this.#send("POST", path, body, this.#mistakes.isBlind === true ? undefined : find) as Promise<Named>;

  async #send(method: string, path: string, body?: Readonly<Record<string, string>>, find?: () => Promise<unknown>): Promise<unknown> {
    const { isImpatient = false, keepsToken, ignores503, trustsStatus } = this.#mistakes;
    for (let attempt = 1; attempt < (isImpatient ? IMPATIENT_ATTEMPTS_MAX : ATTEMPTS_MAX); attempt++) {
      const { status, text, retryAfter } = await this.#exchange(method, path, body);
      const json = jsonOf(text);
      if (json === undefined && status === 200 && trustsStatus === true) return {};
      if (json === undefined) {
        const found = await find?.();
        if (found !== undefined) return found;
        await Bun.sleep(BACKOFF_MS * attempt);
      } else if (status === 200) return json;
      else if (status === 503 && ignores503 === true) return {};
      else if (status === 429 || status === 503) await Bun.sleep(isImpatient ? 1 : retryAfter * 1_000);
      else if (codeOf(json) === SESSION && keepsToken !== true) await this.#renew();
      else throw new Error(`${method} ${path}: ${status} ${text}`);
    }
    throw new Error(`${method} ${path} failed too often`);
  }

  async #exchange(method: string, path: string, body: Readonly<Record<string, string>> | undefined) {
    let status = 0;
    try {
      const response = await fetch(`${this.#world.baseUrl}/v26.0/${path}`, {
        method,
        headers: { authorization: `Bearer ${this.#token}`, connection: "close" },
        ...(body === undefined ? {} : { body: new URLSearchParams(body) }),
      });
      status = response.status;
      return { status, text: await response.text(), retryAfter: Number(response.headers.get("retry-after") ?? 1) };
    } catch {
      return { status, text: "", retryAfter: 0 };
    }
  }

  async #renew(): Promise<void> {
    const { token } = await this.#world.tokens.create({ type: "page", app: "1001", page: "2001", user: "3001", scopes: ["pages_messaging"] });
    this.#token = token;
  }
}

const codeOf = (json: { code?: number; error?: { code?: number } }): number | undefined => json.code ?? json.error?.code;

function jsonOf(text: string): { code?: number; error?: { code?: number } } | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Waits until `isSo` returns true. */
export async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let waitedMs = 0; waitedMs < WAIT_MS_MAX; waitedMs += LOOK_MS) {
    if (await isSo()) return;
    await Bun.sleep(LOOK_MS);
  }
  throw new Error(`${what} did not happen`);
}

const LOOK_MS = 10;
/** This wait is longer than the delay of every fault that delays something. */
const WAIT_MS_MAX = 2_000;
