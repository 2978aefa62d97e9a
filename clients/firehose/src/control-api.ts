/** A client of Plaza's control API with the requests that the firehose needs. */

/** The error for a request that the server refused or could not serve. */
export class Refused extends Error {
  readonly status: number;
  readonly parameter: string | undefined;

  constructor(status: number, message: string, parameter: string | undefined) {
    super(message);
    this.status = status;
    this.parameter = parameter;
  }

  /** Whether a refused request may succeed later, because the server is overloaded, draining or without its database. */
  get isTemporary(): boolean {
    return this.status >= 500 || this.status === 429 || this.status === 408;
  }
}

/** One page of app events, in the order of commits. `gaps` are requests whose events were deleted before the firehose read them. */
export interface EventPage {
  readonly epoch: string;
  readonly data: readonly LoggedEvent[];
  readonly gaps: readonly { readonly first_request: number; readonly last_request: number }[];
  readonly cursor: string;
  readonly has_more: boolean;
}

interface LoggedEvent {
  /** The number of the request and the event's position in the request, e.g. `17-0`. */
  readonly id: string;
}

export interface EventLog {
  readonly app: string;
  readonly epoch: string;
  readonly last_request: number;
}

export interface DeliveryPage {
  readonly epoch: string;
  readonly data: readonly LoggedDelivery[];
  readonly gaps: readonly { readonly first_position: number; readonly last_position: number }[];
  readonly cursor: number;
  readonly last_position: number;
  readonly has_more: boolean;
}

interface LoggedDelivery {
  readonly id: string;
  readonly position: number;
  readonly app: string;
}

interface List<T> {
  readonly data: readonly T[];
  readonly paging: { readonly next?: string };
}

/**
 * The time limit of a request. A page of a thousand events takes the server some 20 ms, so a response that takes longer than this limit means
 * that the connection is broken.
 */
const TIMEOUT_MS = 30_000;
/** The greatest number of rows that the control API returns in one page. */
const PAGE_ROWS = 1_000;
/**
 * The greatest number of webhooks in one page, which is lower than the limit for other rows, because the page contains the bodies of the
 * webhooks.
 */
const PAGE_DELIVERIES = 200;

export class ControlApi {
  readonly #base: URL;
  readonly #key: string;

  constructor(base: string, key: string) {
    this.#base = new URL(base);
    this.#key = key;
  }

  async worlds(): Promise<string[]> {
    const names: string[] = [];
    for await (const { name } of this.#all<{ name: string }>("/v1/worlds")) names.push(name);
    return names;
  }

  logs(world: string): AsyncGenerator<EventLog> {
    return this.#all(`/v1/worlds/${world}/app-event-logs?limit=${PAGE_ROWS}`);
  }

  events(world: string, app: string, query: PlaceQuery): Promise<EventPage> {
    return this.#get(`/v1/worlds/${world}/app-events/${app}/log?${parametersOf(query, PAGE_ROWS)}`);
  }

  deliveries(world: string, query: PlaceQuery): Promise<DeliveryPage> {
    return this.#get(`/v1/worlds/${world}/delivery-log?${parametersOf(query, PAGE_DELIVERIES)}`);
  }

  /**
   * Reads all pages of a list. The link to the next page may have a host that only another network can reach, so the client uses only the
   * path of the link.
   */
  async *#all<T>(path: string): AsyncGenerator<T> {
    for (let next: string | undefined = path; next !== undefined; ) {
      const { data, paging }: List<T> = await this.#get(next);
      yield* data;
      const url: URL | undefined = paging.next === undefined ? undefined : new URL(paging.next);
      next = url && url.pathname + url.search;
    }
  }

  async #get<T>(path: string): Promise<T> {
    const response = await fetch(new URL(path, this.#base), {
      headers: { authorization: `Bearer ${this.#key}` },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await response.text();
    if (response.ok) return JSON.parse(text) as T;
    throw refusalOf(response.status, text);
  }
}

/** The query of a page: the page begins after the cursor, in the cursor's epoch. A page without a cursor begins at the start of the log. */
export interface PlaceQuery {
  readonly epoch?: string | undefined;
  readonly after?: string | undefined;
}

const parametersOf = ({ epoch, after }: PlaceQuery, limit: number): URLSearchParams =>
  new URLSearchParams({ limit: String(limit), ...(epoch === undefined ? {} : { epoch }), ...(after === undefined ? {} : { after }) });

function refusalOf(status: number, text: string): Refused {
  try {
    const { message, parameter } = (JSON.parse(text) as { error: { message: string; parameter?: string } }).error;
    return new Refused(status, message, parameter);
  } catch {
    return new Refused(status, `the control API responded with status ${status}, not as Plaza does`, undefined);
  }
}
