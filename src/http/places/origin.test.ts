import { expect, test } from "bun:test";
import { connectionsWithin } from "../limits.ts";
import { Origins } from "./origin.ts";

const origins = new Origins(["10.0.0.0/8", "fd00::/8"]);
const clientOf = (remoteAddress: string | undefined, ...forwarded: string[]): string =>
  origins.clientOf(
    forwarded.flatMap((value) => ["X-Forwarded-For", value]),
    { remoteAddress },
  );

test.each([
  { title: "the other end of the connection", client: clientOf("203.0.113.1"), is: "203.0.113.1" },
  { title: "that also where it names others, if it is no trusted proxy", client: clientOf("203.0.113.1", "198.51.100.1"), is: "203.0.113.1" },
  { title: "what a trusted proxy received the request from", client: clientOf("10.0.0.1", "198.51.100.1"), is: "198.51.100.1" },
  { title: "of a chain the last that is no trusted proxy", client: clientOf("10.0.0.1", "192.0.2.1, 198.51.100.1, 10.0.0.2"), is: "198.51.100.1" },
  { title: "the same in two headers", client: clientOf("10.0.0.1", "192.0.2.1", "198.51.100.1", "10.0.0.2"), is: "198.51.100.1" },
  { title: "the first where all are trusted", client: clientOf("10.0.0.1", "10.0.0.3,10.0.0.2"), is: "10.0.0.3" },
  { title: "the proxy that wrote down what is no address", client: clientOf("10.0.0.1", "192.0.2.1, unknown, 10.0.0.2"), is: "10.0.0.2" },
  { title: "the proxy that wrote down nothing", client: clientOf("10.0.0.1"), is: "10.0.0.1" },
  { title: "without the port that some proxies write", client: clientOf("10.0.0.1", "198.51.100.1:4711"), is: "198.51.100.1" },
  { title: "the same of IPv6", client: clientOf("fd00::1", "[2001:db8:1:2:3::4]:4711"), is: "2001:db8:1:2::/64" },
  { title: "of IPv6 the network that one client has to itself", client: clientOf("2001:db8::9%eth0"), is: "2001:db8:0:0::/64" },
  { title: "of IPv4 on an IPv6 socket as IPv4", client: clientOf("::ffff:203.0.113.1"), is: "203.0.113.1" },
  { title: "nothing of a connection that is gone", client: clientOf(undefined), is: "" },
])("D-97: a client is $title", ({ client, is }) => {
  expect(client).toBe(is);
});

test("connections leave files to the database, the control API and deliveries", () => {
  const [few, some, many] = [256, 1_024, 20_000].map((filesMax) => connectionsWithin(8_192, filesMax));
  expect({ few, some, many, asked: connectionsWithin(100, 20_000) }).toEqual({ few: 128, some: 512, many: 8_192, asked: 100 });
});
