/**
 * Compares the server's own reader of HTTP/1.1 to Node's, on generated streams. The readers may disagree only for the reasons of disagreements.ts.
 * Bun's `node:http` could not be the second reader: it accepts a repeated Content-Length, which Node refuses.
 */
import { expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { Owner, turns } from "#harness/http/lone-connection";
import { isProving, tries } from "#harness/proof";
import { complete, type Outcome, reasonFor } from "./disagreements.ts";
import { httpStreams } from "./streams.ts";

const STREAMS = tries(5_000, 200_000);
const BATCH = 5_000;
const ORACLE = join(import.meta.dir, "node-oracle.mjs");
/** The seed of the streams. Every test run generates the same streams, and each proof generates other ones. */
const SEED = isProving ? Math.floor(performance.timeOrigin) % 1_000_000 : 1;
/** Plaza's reader gets no limit for bodies here, because Node has no such limit. */
const BODY_BYTES_MAX = Number.MAX_SAFE_INTEGER;

async function readByNode(streams: readonly (readonly string[])[]): Promise<Outcome[]> {
  const node = Bun.spawn(["node", ORACLE], { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
  const output = node.stdout.text();
  node.stdin.write(streams.map((pieces) => `${JSON.stringify(pieces)}\n`).join(""));
  node.stdin.end();
  const lines = (await output).trim().split("\n");
  if (lines.length !== streams.length) throw new Error(`node read ${lines.length} of ${streams.length} streams`);
  return lines.map((line) => JSON.parse(line));
}

async function readByPlaza(pieces: readonly string[]): Promise<Outcome> {
  const owner = new Owner({ bodyBytesMax: BODY_BYTES_MAX });
  await owner.send(...pieces);
  await turns(5);
  owner.connection.closed();
  const requests = owner.heads.map(({ method, target, headers }, index) => {
    const seen = owner.seen[index];
    return { method, target: target.text, headers, body: seen === undefined || seen.problem !== undefined ? null : seen.body };
  });
  const [refusal] = owner.refused;
  const problem = refusal === undefined ? owner.seen.at(-1)?.problem : refusal.kind === "malformed-head" ? refusal.detail : refusal.kind;
  if (problem !== undefined) return { requests, end: "refused", problem };
  return { requests, end: owner.responses.endsWith("last!") ? "closed" : "open" };
}

const isSame = (one: Outcome, other: Outcome): boolean => one.end === other.end && Bun.deepEquals(complete(one), complete(other));

test(`${STREAMS} generated streams, seed ${SEED}`, async () => {
  const found = new Map<string, number>();
  const unexplained: unknown[] = [];
  let requestCount = 0;
  for (let from = 0; from < STREAMS; from += BATCH) {
    const streams = fc.sample(httpStreams, { seed: SEED + from, numRuns: Math.min(BATCH, STREAMS - from) });
    const outcomes = await readByNode(streams);
    for (const [index, pieces] of streams.entries()) {
      const node = outcomes[index] as Outcome;
      let plaza = await readByPlaza(pieces);
      // Plaza checks a line of a request when the line is complete, and Node checks each byte as it arrives.
      if (plaza.end === "open" && node.end === "refused") plaza = await readByPlaza([...pieces, "\r\n\r\n"]);
      requestCount += complete(plaza).length;
      if (isSame(plaza, node)) continue;
      const reason = reasonFor(pieces.join(""), plaza, node);
      if (reason === undefined) unexplained.push({ pieces, plaza, node });
      else found.set(reason, (found.get(reason) ?? 0) + 1);
    }
  }
  console.log(`${requestCount} requests read; disagreements:`, Object.fromEntries(found));
  expect(unexplained.slice(0, 5)).toEqual([]);
  // The streams test enough if most of them have valid requests and many have invalid ones.
  expect(requestCount).toBeGreaterThan(STREAMS / 2);
  expect(found.size).toBeGreaterThan(3);
}, 3_600_000);
