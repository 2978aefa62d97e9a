/** D-61: the handshake that verifies a callback URL before any event is sent there. The handshake never runs inside a transaction. */
import { randomInt } from "node:crypto";
import { challengeMismatch, handshakeFailed } from "#kernel/errors";
import { CallbackRefused } from "#outbound/address-rules";
import type { GuardedClient } from "#outbound/client";
import type { OutboundResponse } from "#outbound/request";
import { RequestFailed } from "#outbound/request";

/** D-61: the time in which the receiver must respond to the handshake. */
const HANDSHAKE_MS_MAX = 10_000;
/**
 * The number of bytes that are read of the response to a handshake. A challenge has 10 to 15 digits, and the first bytes of an error page are enough
 * to recognise it.
 */
const RESPONSE_BYTES_MAX = 1_024;
/** The challenge of a handshake is a random number below this limit, so that nobody can guess the challenge. */
const CHALLENGE_MAX = 2 ** 47;

/**
 * Resolves when the URL has returned the challenge. Throws `handshakeFailed` (2200) if the URL may not be called, does not respond, or responds with
 * another status than 200. Throws `challengeMismatch` (2201) if the URL returns a body other than the challenge.
 */
export async function verifyCallback(client: GuardedClient, url: string, verifyToken: string): Promise<void> {
  // random: if the challenge could be guessed, the right response would not prove that the receiver read the request.
  const challenge = String(randomInt(1_000_000_000, CHALLENGE_MAX));
  let response: OutboundResponse;
  try {
    response = await client.request({
      method: "GET",
      url,
      moreQuery: `hub.mode=subscribe&hub.challenge=${challenge}&hub.verify_token=${encodeURIComponent(verifyToken)}`,
      headers: { Accept: "*/*", "User-Agent": "plaza" },
      deadlineMs: HANDSHAKE_MS_MAX,
      responseBytesMax: RESPONSE_BYTES_MAX,
    });
  } catch (error) {
    if (error instanceof CallbackRefused || error instanceof RequestFailed) throw handshakeFailed(error.message);
    throw error;
  }
  if (response.status !== 200) throw handshakeFailed(`the response must have the status 200, but its status is ${response.status}`);
  // White space around the challenge is ignored, because many web frameworks add a line break to a response body.
  const received = response.body.toString("utf8").trim();
  if (received !== challenge) throw challengeMismatch(challenge, excerptOf(received));
}

/** The number of characters of a wrong response that the error message shows, enough to recognise an error page. */
const SHOWN_CHARACTERS_MAX = 100;

function excerptOf(body: string): string {
  if (body === "") return "empty";
  const characters = [...body];
  const text = JSON.stringify(characters.slice(0, SHOWN_CHARACTERS_MAX).join(""));
  return characters.length > SHOWN_CHARACTERS_MAX ? `${text}…` : text;
}
