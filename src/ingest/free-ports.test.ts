import { expect, test } from "bun:test";
import { afterThisTest } from "#harness/cleanup";
import { findFreePorts } from "./free-ports.ts";

const HOST = "127.0.0.1";

/** Listens at the port; throws if another program already listens there. */
function listen(port: number): number {
  const listener = Bun.listen({ hostname: HOST, port, socket: { data: () => {} } });
  afterThisTest(() => listener.stop(true));
  return listener.port;
}

test("ports are found in the wanted order, all different, and nobody holds them", () => {
  const [one = 0, other = 0] = findFreePorts(HOST, [
    { port: 0, isChoice: false },
    { port: 0, isChoice: true },
  ]);
  expect(one > 0 && other > 0 && one !== other).toBe(true);
  expect(
    findFreePorts(
      HOST,
      [other, one].map((port) => ({ port, isChoice: false })),
    ),
  ).toEqual([other, one]);
  expect([listen(one), listen(other)]).toEqual([one, other]);
});

test("if a default port is in use, another one is found; a requested one is refused, and the others are free again", () => {
  const taken = listen(0);
  const [elsewhere = 0] = findFreePorts(HOST, [{ port: taken, isChoice: true }]);
  // The test cannot expect a certain port, because any other program may already listen at that port.
  expect(elsewhere > 1_023 && elsewhere !== taken).toBe(true);
  expect(() =>
    findFreePorts(HOST, [
      { port: elsewhere, isChoice: false },
      { port: taken, isChoice: false },
    ]),
  ).toThrow("Failed to listen");
  expect(listen(elsewhere)).toBe(elsewhere);
});

test("an address of another machine is refused, whether or not its port was requested", () => {
  for (const isChoice of [true, false]) expect(() => findFreePorts("192.0.2.1", [{ port: 0, isChoice }])).toThrow("Failed to listen at 192.0.2.1");
});
