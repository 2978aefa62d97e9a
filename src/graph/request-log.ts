/** The last calls of a world, for the control API: a ring, so that memory stays flat. Secrets are taken out when it is read. */
export interface RequestEntry {
  readonly trace_id: string;
  readonly operation: string;
  readonly method: string;
  readonly surface: string;
  readonly path: string;
  readonly query: string;
  readonly status: number;
  /** World time, Unix ms. */
  readonly time: number;
  readonly duration_ms: number;
  readonly app: string | undefined;
  readonly request_body: string;
  readonly response_body: string;
}

/** 1,000 calls of at most 2 × 4 KiB: 8 MB at worst, some 1 MB in practice. */
const ENTRIES_MAX = 1_000;
const BODY_CHARACTERS_MAX = 4_096;

export class RequestLog {
  readonly #ring: RequestEntry[] = [];
  #next = 0;
  #waiting: (() => void)[] = [];

  add(entry: RequestEntry): void {
    this.#ring[this.#next] = entry;
    this.#next = (this.#next + 1) % ENTRIES_MAX;
    if (this.#waiting.length > 0) {
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const wake of waiting) wake();
    }
  }

  /** Newest first, without secrets. */
  entries(): RequestEntry[] {
    const { length } = this.#ring;
    const found: RequestEntry[] = [];
    for (let i = 1; i <= length; i++) found.push(withoutSecrets(this.#ring[(this.#next - i + length) % length] as RequestEntry));
    return found;
  }

  /** Resolves at the next call. */
  next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

/** A copy, so that one small body does not keep a large one alive. */
export const excerpt = (text: string): string => (text.length > BODY_CHARACTERS_MAX ? `${text.slice(0, BODY_CHARACTERS_MAX)}…` : text);

const SECRET_NAMES =
  "access_token|oauth_token|input_token|appsecret_proof|verify_token|client_secret|app_secret|secret|stream_key|stream_url|secure_stream_url|token";
const IN_FORM = new RegExp(`(^|[&?])((?:${SECRET_NAMES})|[^&=]*%5B(?:${SECRET_NAMES})%5D)=[^&]*`, "gi");
const IN_JSON = new RegExp(`("(?:${SECRET_NAMES})"\\s*:\\s*)"(?:[^"\\\\]|\\\\.)*"?`, "gi");

export const redact = (text: string): string => text.replace(IN_FORM, "$1$2=…").replace(IN_JSON, '$1"…"');

function withoutSecrets(entry: RequestEntry): RequestEntry {
  return { ...entry, query: redact(entry.query), request_body: redact(entry.request_body), response_body: redact(entry.response_body) };
}
