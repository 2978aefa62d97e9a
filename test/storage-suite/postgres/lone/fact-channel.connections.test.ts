/** Checks how the channel for notices starts, loses its connection, gets another one, and ends. */
import { expect, test } from "bun:test";
import { openChannel } from "#harness/postgres/lone-channel";
import { LoneServer } from "#harness/postgres/lone-server";
import { catchTimers } from "#harness/time/stopped-time";
import { nextTurn } from "#kernel/turns";
import { FactChannel } from "#storage/postgres/fact-channel";

test("a lost connection is reported once, ended, and replaced at an interval, one attempt at a time, until a session begins", async () => {
  const { server, session, tick, news, notify, channel, hear } = await openChannel({ own: { 5: 7 }, second: {} });
  await channel.follow("second", hear("second"));
  news();
  const lost = session();
  lost.emit("error", new Error("Connection terminated"));
  lost.emit("end");
  expect(news()).toEqual(["own: everything", "second: everything"]);
  expect(lost.hasEnded).toBe(true);
  const { beginning } = server;
  const gate = Promise.withResolvers<void>();
  server.beginning = () => gate.promise;
  for (let interval = 0; interval < 3; interval++) await tick();
  expect(server.asked).toHaveLength(2);
  // Until the channel has a connection, the process may not trust any cached value.
  expect(news()).toHaveLength(6);
  gate.reject(new Error("refused"));
  await nextTurn();
  server.beginning = beginning;
  await tick();
  expect(server.asked).toHaveLength(3);
  expect(session().sent[0]).toBe('LISTEN "own"; LISTEN "second"');
  news();
  await tick();
  // The channel ignores the old connection, and uses the new one.
  lost.emit("error", new Error("once more"));
  notify('5 8 [["token","a"]]');
  expect(news()).toEqual(["own: token a"]);
});

test("a session that is lost while it begins does not count, and is requested again", async () => {
  const { server, session, tick, news, gates } = await openChannel();
  session().emit("end");
  const gate = Promise.withResolvers<void>();
  gates.respond = () => gate.promise;
  await tick();
  const beginning = session();
  beginning.emit("error", new Error("Connection terminated"));
  gate.resolve();
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  expect(beginning.hasEnded).toBe(true);
  news();
  await tick();
  expect(server.sessions).toHaveLength(3);
  expect(news()).toEqual(["own: everything", "own: everything"]);
});

test("at the end the number is given back, the session ends, and nothing is reported or requested any more", async () => {
  const { channel, session, interval, news, notify, tick, server, tables, gates } = await openChannel();
  const gate = Promise.withResolvers<void>();
  gates.respond = () => gate.promise;
  await tick();
  news();
  const closing = channel.close();
  await nextTurn();
  // The channel does not end its session while it waits for a response.
  expect(session().hasEnded).toBe(false);
  tables.own = { 5: 1 };
  gate.resolve();
  await closing;
  expect(session().sent.some((text) => String(text).includes("SET lease_until_ms = 0"))).toBe(true);
  expect({ hasEnded: session().hasEnded, isCleared: interval.isCleared }).toEqual({ hasEnded: true, isCleared: true });
  notify('5 2 [["token","a"]]');
  session().emit("end");
  channel.confirm();
  await tick();
  expect(news()).toEqual([]);
  expect(server.asked).toHaveLength(1);
  expect(() => channel.processNumber).toThrow("Service temporarily unavailable");
});

test("a session that begins after the end is ended", async () => {
  const { channel, server, session, tick, news } = await openChannel();
  session().emit("end");
  const { beginning } = server;
  const gate = Promise.withResolvers<void>();
  server.beginning = async (begun) => {
    await gate.promise;
    beginning(begun);
  };
  await tick();
  await channel.close();
  news();
  gate.resolve();
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  expect(server.sessions).toHaveLength(2);
  expect(session().hasEnded).toBe(true);
  expect(news()).toEqual([]);
});

test("a channel that cannot begin leaves neither a session nor an interval", async () => {
  const { intervals } = catchTimers();
  const server = new LoneServer();
  server.beginning = (session) => {
    session.respond = async () => {
      throw new Error("refused");
    };
  };
  await expect(FactChannel.open(server.asServer, () => {})).rejects.toThrow("refused");
  expect(server.sessions.map(({ hasEnded }) => hasEnded)).toEqual([true]);
  expect(intervals.map(({ isCleared }) => isCleared)).toEqual([true]);
});
