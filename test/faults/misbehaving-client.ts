/**
 * A client that misbehaves in one way until it is killed, as a process of its own: `bun misbehaving-client.ts <way> <base url> <rtmp url> <worlds>`.
 * The client is the app 1002 of the world of `neighbours.slow.test.ts`. Once a second it prints the number of connections or requests that it has
 * begun.
 */
import type { Socket } from "bun";

const [, , way = "", baseUrl = "", rtmpUrl = "", worlds = "1"] = process.argv;
const APP = "1002";
const SECRET = "1002|0ther";
const KIB = 1_024;
/**
 * The pause of the client before its next attempt. The attempts with the largest requests make about 1 Gbit/s: a server cannot stop a flood that
 * fills its line.
 */
const AGAIN_MS = 1_000;
let begun = 0;

/** A server that accepts connections and never sends a byte. */
const tarpit = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });

const request = (method: string, path: string, headers: string, body = ""): string =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

const FORM = "Content-Type: application/x-www-form-urlencoded\r\n";
const JSON_TYPE = "Content-Type: application/json\r\n";
const bearer = (token: string): string => `Authorization: Bearer ${token}\r\n`;

const subscribe = (padding: number): string =>
  request(
    "POST",
    `/v26.0/${APP}/subscriptions`,
    FORM + bearer(SECRET),
    `object=page&fields=custom_labels&verify_token=v&callback_url=${encodeURIComponent(`http://127.0.0.1:${tarpit.port}/`)}&padding=${"a".repeat(padding)}`,
  );

const threeTokens = "access_token=other-app&oauth_token=other-app";
const listed = (limit: number): string => `2001/custom_labels?limit=${limit}&${threeTokens}`;
const get = (path: string, token: string): string => request("GET", path, bearer(token));
const batch = request(
  "POST",
  "/v26.0/",
  JSON_TYPE + bearer("other-app"),
  JSON.stringify({
    access_token: "other-app",
    batch: Array.from({ length: 50 }, () => ({ method: "GET", relative_url: listed(100) })),
  }),
);

const inJson = (path: string, token: string, body: string): string => request("POST", path, JSON_TYPE + bearer(token), body);

/** A client that honestly retries the largest report sends the same events again. */
const events = JSON.stringify({
  ...{ event: "CUSTOM_APP_EVENTS", advertiser_id: "device" },
  custom_events: Array.from({ length: 8_000 }, (_, at) => ({ _eventName: "share", event_id: `e${at}` })),
});
const nestedBatches = JSON.stringify({
  access_token: "other-app",
  batch: Array.from({ length: 50 }, () => ({
    method: "POST",
    relative_url: "",
    body: `batch=${encodeURIComponent('[{"method":"GET","relative_url":"me"}]')}`,
  })),
});
const BOUNDARY = "boundary";
/** A file in which each line opens a quote. */
const feedFile =
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="books.csv"\r\n\r\n` +
  `retailer_id,name,url,image_url\n${'a,"t\n'.repeat(60_000)}\r\n--${BOUNDARY}--\r\n`;
const FORM_WITH_FILE = `Content-Type: multipart/form-data; boundary=${BOUNDARY}\r\n`;

interface Way {
  readonly connections: number;
  /** The text that the client sends as soon as a connection is open. */
  readonly opened?: string;
  /** The text that the client sends twice a second. */
  readonly dripped?: string;
  /** The text that the client sends repeatedly, each time after the response. */
  readonly repeated?: string;
  /** Makes each text that the client sends, from the number of texts that it has sent before. */
  readonly made?: (n: number) => string;
  readonly isReading?: false;
  /** Whether the connections are those of an encoder. */
  readonly isEncoder?: true;
}

const ways: Readonly<Record<string, Way>> = {
  padding: { connections: 64, repeated: subscribe(1_000 * KIB) },
  "deep JSON": {
    connections: 64,
    repeated: request("POST", `/v26.0/${APP}/subscriptions`, JSON_TYPE + bearer(SECRET), `{"a":[${"[],".repeat(300_000)}1]}`),
  },
  tarpits: { connections: 1_100, repeated: subscribe(0) },
  "slow heads": { connections: 2_000, opened: "GET /v26.0/2001 HTTP/1.1\r\nHost: localhost\r\nX: ", dripped: "a" },
  "large heads": { connections: 2_000, opened: `GET /v26.0/2001 HTTP/1.1\r\nHost: localhost\r\nX: ${"a".repeat(60 * KIB)}` },
  "empty lines": { connections: 2_000, dripped: "\r\n" },
  "announced bodies": {
    connections: 2_000,
    opened: `POST /v26.0/${APP}/subscriptions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n`,
  },
  "silent bodies": {
    connections: 1_000,
    opened: `POST /v26.0/${APP}/subscriptions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n${"a".repeat(200 * KIB)}`,
  },
  "idle connections": { connections: 5_000 },
  batches: { connections: 100, repeated: batch },
  "slow readers": { connections: 1_000, opened: batch, isReading: false },
  reads: { connections: 500, repeated: get(`/v26.0/${listed(100)}`, "other-app") },
  "repeated events": { connections: 16, repeated: inJson(`/v26.0/${APP}/activities`, SECRET, events) },
  "long digits": { connections: 64, repeated: inJson(`/v26.0/${APP}/subscriptions`, SECRET, `{"a":[${"12345678901234567,".repeat(29_000)}1]}`) },
  "one long number": { connections: 64, repeated: inJson(`/v26.0/${APP}/subscriptions`, SECRET, `{"a":${"7".repeat(1_000_000)}}`) },
  "nested fields": { connections: 64, repeated: get(`/v26.0/2001?fields=${"id{".repeat(4_500)}`, "other-app") },
  "nested batches": { connections: 64, repeated: inJson("/v26.0/", "other-app", nestedBatches) },
  "hostile feeds": { connections: 16, repeated: request("POST", "/v25.0/8101/uploads", FORM_WITH_FILE + bearer("other-reader"), feedFile) },
  "named worlds": { connections: 100, made: (n) => get(`/w/w${n % 600}/v26.0/2001`, "guessed") },
  "opened worlds": { connections: 100, made: (n) => get(`/w/w${n % Number(worlds)}/v26.0/2001`, "opener") },
  "encoders without a key": { connections: 300, isEncoder: true },
  "guessed tokens": { connections: 500, repeated: get("/v26.0/1001/subscriptions", "1001|guessed") },
};

const { connections, opened, dripped, repeated, made = () => repeated, isReading = true, isEncoder = false } = ways[way] as Way;
const { hostname, port } = new URL(isEncoder ? rtmpUrl.replace("rtmp:", "http:") : baseUrl);
const open = new Set<Socket<Sending>>();

/** The bytes that are left to send on a connection. */
interface Sending {
  left: Buffer;
}

function write(socket: Socket<Sending>, text: string): void {
  socket.data.left = Buffer.concat([socket.data.left, Buffer.from(text, "latin1")]);
  flush(socket);
}

function flush(socket: Socket<Sending>): void {
  const { data } = socket;
  if (data.left.length === 0) return;
  const written = socket.write(data.left);
  if (written > 0) data.left = data.left.subarray(written);
}

async function connectAgain(): Promise<void> {
  await Bun.connect<Sending>({
    hostname,
    port: Number(port),
    data: { left: Buffer.alloc(0) },
    socket: {
      open(socket) {
        begun++;
        open.add(socket);
        if (!isReading) socket.pause();
        write(socket, opened ?? made(begun) ?? "");
      },
      data(socket) {
        const next = socket.data.left.length > 0 ? undefined : made(begun);
        if (next === undefined) return;
        begun++;
        write(socket, next);
      },
      drain: (socket) => flush(socket),
      close(socket) {
        open.delete(socket);
        setTimeout(() => void connectAgain(), AGAIN_MS);
      },
      error() {},
    },
  }).catch(() => setTimeout(() => void connectAgain(), AGAIN_MS));
}

setInterval(() => console.log(begun), 1_000);
setInterval(() => {
  if (dripped !== undefined) for (const socket of open) write(socket, dripped);
}, 500);
for (let i = 0; i < connections; i++) {
  void connectAgain();
  if (i % 100 === 99) await Bun.sleep(10);
}
