/**
 * Runs on Node, not on Bun: shows how Node's own HTTP server reads a stream of bytes. Each line of the program's input is a JSON array of pieces of a
 * stream, in Latin-1. Each line of the program's output has the requests of a stream, with the body `null` for an incomplete request, and how the
 * stream ended.
 */
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { Duplex } from "node:stream";

/** The number of streams that are read at the same time. */
const AT_ONCE = 100;

// Without this option, Node would respond with 400 to a request without Host, and emit no event. With this option, `take` gets such a request, and
// refuses it so that the output shows the refusal.
const server = createServer({ maxHeaderSize: 131_072, headersTimeout: 0, requestTimeout: 0, keepAliveTimeout: 0, requireHostHeader: false });
server.timeout = 0;
server.maxHeadersCount = 0;

function take(request, response) {
  const { outcome } = request.socket;
  const { method, url, httpVersion, rawHeaders, headers } = request;
  if (httpVersion === "1.1" && headers.host === undefined) refuse(request.socket, "no Host");
  if (outcome.end !== "open") return;
  const seen = { method, target: url, version: httpVersion, headers: rawHeaders, body: null };
  outcome.requests.push(seen);
  const parts = [];
  request.on("data", (part) => parts.push(part));
  // Node's event `clientError` has the reason why a request body is refused.
  request.on("error", () => {});
  request.on("end", () => {
    seen.body = Buffer.concat(parts).toString("latin1");
    if (!response.shouldKeepAlive) outcome.end = "closed";
    response.writeHead(204).end();
  });
}
for (const event of ["request", "checkContinue", "checkExpectation"]) server.on(event, take);
server.on("connect", (_request, socket) => refuse(socket, "CONNECT"));
server.on("clientError", (error, socket) => refuse(socket, error.code));

function refuse(socket, code) {
  // The code leaves the socket open, because complete requests may still be on their way to `take`.
  if (socket.outcome.end === "open") Object.assign(socket.outcome, { end: "refused", problem: code });
}

class Line extends Duplex {
  outcome = { requests: [], end: "open" };

  _read() {}

  _write(_chunk, _encoding, done) {
    done();
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function outcomeOf(pieces) {
  const line = new Line();
  line.on("error", () => {});
  server.emit("connection", line);
  for (const piece of pieces) {
    if (line.destroyed || line.outcome.end !== "open") break;
    line.push(Buffer.from(piece, "latin1"));
    await turn();
    await turn();
  }
  // Responses to pipelined requests come one after the other, so the program waits several turns of the event loop.
  for (let turns = 0; turns < 10; turns++) await turn();
  const { outcome } = line;
  line.destroy();
  return outcome;
}

let batch = [];
async function flush() {
  const streams = batch;
  batch = [];
  for (const outcome of await Promise.all(streams.map((text) => outcomeOf(JSON.parse(text))))) process.stdout.write(`${JSON.stringify(outcome)}\n`);
}

for await (const text of createInterface({ input: process.stdin })) {
  batch.push(text);
  if (batch.length === AT_ONCE) await flush();
}
await flush();
