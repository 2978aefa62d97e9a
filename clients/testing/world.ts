/** A world of a server, for tests. The bodies that its functions take and return are those of the control API (docs/reference/control-api.md). */
import type { Connection } from "./connection.ts";
import type { Entries, Nodes, Operations, WorldFile } from "./control-api.ts";
import { failAt, type SeenAppEvent, type SeenRequest, type SeenWebhook } from "./failures.ts";
import { webhookFields } from "./generated/webhook-fields.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

type Body<Operation extends keyof Operations> = Operations[Operation]["body"];
type Result<Operation extends keyof Operations> = Operations[Operation]["response"];
type Query<Operation extends keyof Operations> = Operations[Operation]["query"];

/** The addresses of the graph's surfaces, which are the groups of operations with an address of their own. No address ends with a slash. */
export interface GraphAddresses {
  readonly baseUrl: string;
  readonly appBaseUrl: string;
  readonly microblogBaseUrl: string;
  readonly adsBaseUrl: string;
  readonly socialLoginHost: string;
}

export interface Met<Entry> {
  readonly count: number;
  /** The matching entries, the newest first. */
  readonly data: readonly Entry[];
}

/** Reads and changes the nodes of one kind. The kind is a key of a world file, such as `labels`. */
export interface NodesOf<Key extends keyof Entries> {
  /** Creates a node. If the entry has no id, the server gives it a new id. */
  create(entry: Omit<Entries[Key], "id"> & { readonly id?: string }): Promise<Nodes[Key]>;
  read(id: string): Promise<Nodes[Key]>;
  /** Returns all nodes of the kind. */
  list(): Promise<Nodes[Key][]>;
  /** Changes keys of a node. A key with the value null gets its default again. */
  update(id: string, changes: { readonly [Name in keyof Entries[Key]]?: Entries[Key][Name] | null }): Promise<Nodes[Key]>;
  delete(id: string): Promise<void>;
}

export interface WebhookReceiverOptions {
  /** The app that gets the receiver as its callback. */
  readonly app: string;
  /** The subscriptions of the app. By default the app keeps its subscriptions; if it has no subscriptions, it gets all webhook fields. */
  readonly subscriptions?: Entries["apps"]["subscriptions"];
}

export interface WebhookReceiver extends Receiver {
  /** Waits for webhooks as `webhooks.expect` does, but only for those that this receiver accepted. */
  expect(expectation: Body<"expectWebhooks">): Promise<Met<SeenWebhook>>;
}

const everything = (Object.keys(webhookFields) as (keyof typeof webhookFields)[]).map((object) => ({ object, fields: [...webhookFields[object]] }));

export class World {
  readonly #receivers: Receiver[] = [];

  constructor(
    readonly name: string,
    readonly addresses: GraphAddresses,
    readonly connection: Connection,
  ) {}

  /** The address of the graph. Requests go to `{baseUrl}/v26.0/…`. */
  get baseUrl(): string {
    return this.addresses.baseUrl;
  }

  /** Sends a request to the control API. `path` is below the world's address, e.g. `live-videos/5301/takedown`. */
  control<Response>(method: string, path: string, body?: unknown): Promise<Response> {
    return this.connection.send<Response>(method, `worlds/${encodeURIComponent(this.name)}/${path}`, body);
  }

  readonly clock = {
    read: () => this.control<Result<"readClock">>("GET", "clock"),
    set: (body: Body<"setClock">) => this.control<Result<"setClock">>("PUT", "clock", body),
    /** Moves the world's clock. Resolves when all jobs that are due by the new time have run. */
    advance: (seconds: number) => this.control<Result<"advanceClock">>("POST", "clock/advance", { seconds }),
  };

  readonly requests = {
    /** Lists the requests to the graph, the newest first. */
    list: async (query: Query<"listRequests"> = {}) => (await this.control<Result<"listRequests">>("GET", `requests${queryText(query)}`)).data,
    /** Waits up to `within_ms` for requests that match. Rejects with an `UnmetExpectation` if the requests do not come. */
    expect: (body: Body<"expectRequests">): Promise<Met<SeenRequest>> => this.#expect("requests/expect", body),
  };

  readonly webhooks = {
    /** Lists webhooks on one page, the newest first. */
    list: async (query: Query<"listDeliveries"> = {}) => (await this.control<Result<"listDeliveries">>("GET", `deliveries${queryText(query)}`)).data,
    /**
     * Waits up to `within_ms` for webhooks that match; counts only delivered webhooks, unless `status` is given. Rejects with an `UnmetExpectation`
     * if the webhooks do not come.
     */
    expect: (body: Body<"expectWebhooks">): Promise<Met<SeenWebhook>> => this.#expect("deliveries/expect", body),
    /** Sends a webhook with an example event, or with the given value. */
    trigger: (body: Body<"triggerWebhook">) => this.control<Result<"triggerWebhook">>("POST", "deliveries/trigger", body),
    /** Sends a webhook once more, with the same id and body. */
    replay: (id: string) => this.control<Result<"replayDelivery">>("POST", `deliveries/${id}/replay`),
    /**
     * Starts a receiver in this process, and makes it the callback of an app. The receiver is closed with the world.
     */
    receive: (options: WebhookReceiverOptions) => this.#receive(options),
  };

  readonly appEvents = {
    /** Lists the test events of an app, the newest first. */
    list: async (app: string) => (await this.control<Result<"readTestEvents">>("GET", `app-events/${app}/test-events`)).data,
    /**
     * Waits up to `within_ms` for app events that match; counts only accepted events, unless `verdict` is given. An event that breaks its schema in
     * the app's `event_schemas` has the verdict `invalid`. Rejects with an `UnmetExpectation` if the events do not come.
     */
    expect: (app: string, body: Body<"expectAppEvents">): Promise<Met<SeenAppEvent>> => this.#expect(`app-events/${app}/expect`, body),
  };

  readonly faults = {
    add: (body: Body<"createFault">) => this.control<Result<"createFault">>("POST", "faults", body),
    list: async () => (await this.control<Result<"listFaults">>("GET", "faults")).data,
    clear: () => this.control<Result<"deleteFaults">>("DELETE", "faults"),
  };

  /** Actions of people who use the social app. */
  readonly inApp = {
    selfMessage: (body: Body<"sendInApp">) => this.control<Result<"sendInApp">>("POST", "in-app/self-message", body),
    /** The messages of an account with itself, the oldest first. */
    messages: async (social_account: string) =>
      (await this.control<Result<"readInApp">>("GET", `in-app/messages?${new URLSearchParams({ social_account })}`)).data,
    postback: (body: Body<"pressInApp">) => this.control<Result<"pressInApp">>("POST", "in-app/postback", body),
    comment: (body: Body<"commentInApp">) => this.control<Result<"commentInApp">>("POST", "in-app/comment", body),
    liveComment: (body: Body<"commentLiveInApp">) => this.control<Result<"commentLiveInApp">>("POST", "in-app/live-comment", body),
    chatapp: (body: Body<"emitChatappEvent">) => this.control<Result<"emitChatappEvent">>("POST", "in-app/chatapp", body),
  };

  readonly tokens = {
    /** Creates a token. The value of the new token is in `token` of the result. */
    create: (body: Body<"mintToken">) => this.control<Result<"mintToken"> & { readonly token: string }>("POST", "tokens", body),
    list: async () => (await this.control<Result<"listTokens">>("GET", "tokens?limit=1000")).data,
    revoke: (id: string) => this.control<Result<"revokeToken">>("DELETE", `tokens/${id}`),
  };

  /** Reads and changes nodes of a kind, e.g. `nodes("labels").create({ page: "2001", name: "vip" })`. */
  nodes<Key extends keyof Entries>(key: Key): NodesOf<Key> {
    const path = `nodes/${key}`;
    return {
      create: (entry) => this.control("POST", path, entry),
      read: (id) => this.control("GET", `${path}/${encodeURIComponent(id)}`),
      list: () => this.#listAll(path),
      update: (id, changes) => this.control("PATCH", `${path}/${encodeURIComponent(id)}`, changes),
      delete: async (id) => void (await this.control("DELETE", `${path}/${encodeURIComponent(id)}`)),
    };
  }

  /** Merges a world file into the world. `file` is an object or a text in YAML. */
  async import(file: WorldFile | string): Promise<void> {
    await this.control("POST", "import", file);
  }

  /** Returns the world as a world file; with `secrets` the file includes the secrets of apps. */
  export(query: Query<"exportWorld"> = {}): Promise<WorldFile> {
    return this.control("GET", `export${queryText(query)}`);
  }

  /** Resets the world to its first content. A reset also clears the faults and the log of requests. */
  async reset(): Promise<void> {
    await this.control("POST", "reset");
  }

  /** Saves the state of the world as a snapshot with this name. */
  async snapshot(name: string): Promise<void> {
    await this.control("POST", "snapshots", { name });
  }

  /** Restores a snapshot of the world, including the world's time. */
  async restore(name: string): Promise<void> {
    await this.control("POST", `snapshots/${encodeURIComponent(name)}/restore`);
  }

  /** Closes the receivers of the world. */
  close(): Promise<void> {
    return this.closeReceivers();
  }

  /** @internal Closes the receivers before another test uses the world. */
  async closeReceivers(): Promise<void> {
    await Promise.all(this.#receivers.splice(0).map((receiver) => receiver.close()));
  }

  async #expect<Entry>(path: string, body: object): Promise<Met<Entry>> {
    const asked = new Error();
    try {
      return await this.control("POST", path, body);
    } catch (error) {
      return failAt(error, asked);
    }
  }

  async #listAll<Node>(path: string): Promise<Node[]> {
    const all: Node[] = [];
    for (let after = ""; ; ) {
      const { data, paging } = await this.control<{ data: Node[]; paging: { next?: string } }>("GET", `${path}?limit=1000${after}`);
      all.push(...data);
      if (paging.next === undefined) return all;
      after = `&after=${encodeURIComponent(new URL(paging.next).searchParams.get("after") ?? "")}`;
    }
  }

  async #receive({ app, subscriptions }: WebhookReceiverOptions): Promise<WebhookReceiver> {
    const stored = await this.nodes("apps").read(app);
    const receiver = await startReceiver({ secret: stored.secret ?? "" });
    this.#receivers.push(receiver);
    const wanted = subscriptions ?? (stored.subscriptions.length === 0 ? everything : undefined);
    await this.nodes("apps").update(app, {
      callback: { url: receiver.url, verified: true },
      ...(wanted === undefined ? {} : { subscriptions: wanted }),
    });
    const expect: WebhookReceiver["expect"] = (body) => this.webhooks.expect({ ...body, match: { callback: receiver.url, ...body.match } });
    return Object.assign(receiver, { expect });
  }
}

/** The query of an address, e.g. `?limit=5`; empty without parameters. */
function queryText(query: object): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return given.length === 0 ? "" : `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`;
}
