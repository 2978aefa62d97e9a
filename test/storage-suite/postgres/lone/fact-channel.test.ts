/**
 * Checks how the channel for notices reacts to notifications, polls and silence, at each interval. The tests with a real PostgreSQL server are in the
 * parent folder.
 */
import { expect, test } from "bun:test";
import { openChannel, PROCESS_NUMBER } from "#harness/postgres/lone-channel";
import type { LoneSession } from "#harness/postgres/lone-server";
import { nextTurn } from "#kernel/turns";

const never = (): Promise<void> => new Promise(() => {});
const polls = (session: LoneSession): number => session.sent.filter((text) => String(text).includes("fact_generations")).length;

test("a channel begins with everything changed, listens before it reads the numbers, and polls twice a second without keeping the program running", async () => {
  const { channel, news, session, interval, server } = await openChannel();
  expect(news()).toEqual(["own: everything"]);
  expect(channel.processNumber).toBe(PROCESS_NUMBER);
  const [first] = session().sent;
  expect([first, session().sent.at(-1)]).toEqual(['LISTEN "own"', expect.stringContaining("fact_generations")]);
  expect({ ms: interval.ms, isUnreffed: interval.isUnreffed }).toEqual({ ms: 500, isUnreffed: true });
  expect(server.asked).toEqual([{ options: { query_timeout: 5_000 }, schema: "own" }]);
});

test("facts are reported by name while the numbers of their slot are consecutive; a gap, or a notification without names, means everything", async () => {
  const { notify, news } = await openChannel({ own: { 5: 7 } });
  news();
  const reported = (payload: string, schema?: string): string[] => {
    notify(payload, schema);
    return news();
  };
  expect(reported('5 8 [["token","a b"],["page","é"]]')).toEqual(["own: token a b", "own: page é"]);
  expect(reported('6 1 [["token","c"]]')).toEqual(["own: token c"]);
  expect(reported('6 2 [["token","d"]]', "other")).toEqual([]);
  expect(reported('6 3 [["token","e"]]')).toEqual(["own: everything"]);
  expect(reported('6 2 [["token","late"]]')).toEqual(["own: token late"]);
  expect(reported('6 4 [["token","f"]]')).toEqual(["own: token f"]);
  expect(reported("6 5 null")).toEqual(["own: everything"]);
  expect(reported('6 6 [["token","g"]]')).toEqual(["own: token g"]);
});

test("a number without a notification means that everything may have changed, once, and only in its schema", async () => {
  const { channel, tick, news, notify, hear, tables } = await openChannel({ own: { 5: 7 }, second: { 5: 1 } });
  await channel.follow("second", hear("second"));
  news();
  await tick();
  expect(news()).toEqual([]);
  tables.own = { 5: 8, 9: 1 };
  await tick();
  expect(news()).toEqual(["own: everything"]);
  await tick();
  expect(news()).toEqual([]);
  notify('5 9 [["token","a"]]');
  notify('9 2 [["token","b"]]');
  notify('5 2 [["token","c"]]', "second");
  expect(news()).toEqual(["own: token a", "own: token b", "second: token c"]);
  tables.own = { 5: 9, 9: 2 };
  tables.second = { 5: 2 };
  await tick();
  expect(news()).toEqual([]);
});

test("a poll without a response: everything counts as changed at each interval, nothing more is requested, and the eleventh interval ends the connection", async () => {
  const { tick, news, session, gates } = await openChannel();
  news();
  gates.respond = never;
  await tick();
  expect(news()).toEqual([]);
  const asked = session().sent.length;
  for (let silent = 1; silent <= 9; silent++) {
    await tick();
    expect(news()).toEqual(["own: everything"]);
  }
  expect(session().hasEnded).toBe(false);
  await tick();
  expect({ news: news(), hasEnded: session().hasEnded, asked: session().sent.length }).toEqual({ news: ["own: everything"], hasEnded: true, asked });
});

test("a late response ends the silence, and the next poll runs as before", async () => {
  const { tick, news, session, gates } = await openChannel();
  const gate = Promise.withResolvers<void>();
  gates.respond = () => gate.promise;
  await tick();
  await tick();
  news();
  gate.resolve();
  await nextTurn();
  const before = polls(session());
  await tick();
  expect(news()).toEqual([]);
  expect(polls(session())).toBe(before + 1);
});

test("a cache can be used for a second after the beginning of the last answered poll, and not longer", async () => {
  const { channel, clock, news, tick, gates } = await openChannel();
  news();
  clock.ms += 1_000;
  channel.confirm();
  expect(news()).toEqual([]);
  clock.ms += 0.5;
  channel.confirm();
  channel.confirm();
  expect(news()).toEqual(["own: everything"]);
  clock.ms += 400;
  const gate = Promise.withResolvers<void>();
  gates.respond = () => gate.promise;
  await tick();
  clock.ms += 800;
  gate.resolve();
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  clock.ms += 200;
  channel.confirm();
  expect(news()).toEqual([]);
  clock.ms += 1;
  channel.confirm();
  expect(news()).toEqual(["own: everything"]);
});

test("a schema is followed at once, from its numbers on, and left; without a connection the next one begins with it", async () => {
  const { channel, session, news, notify, hear, tick, tables } = await openChannel({ own: {}, second: { 5: 7 }, third: {} });
  await channel.follow("second", hear("second"));
  expect(session().sent.at(-2)).toBe('LISTEN "second"');
  news();
  notify('5 8 [["token","a"]]', "second");
  expect(news()).toEqual(["second: token a"]);
  channel.leave("second");
  await nextTurn();
  expect(session().sent.at(-1)).toBe('UNLISTEN "second"');
  notify('5 9 [["token","b"]]', "second");
  tables.second = { 5: 20 };
  await tick();
  expect(news()).toEqual([]);
  expect(session().sent.at(-1)).not.toContain("second");
  const asked = session().sent.length;
  session().emit("end");
  await channel.follow("third", hear("third"));
  channel.leave("own");
  expect(session().sent).toHaveLength(asked);
  await tick();
  expect(session().sent[0]).toBe('LISTEN "third"');
});

test("a deleted schema is left out, and the others are read; a missing one cannot be followed", async () => {
  const { channel, news, hear, tick, tables, gates } = await openChannel({ own: {}, second: {} });
  await channel.follow("second", hear("second"));
  delete tables.second;
  tables.own = { 5: 1 };
  news();
  await tick();
  expect(news()).toEqual(["own: everything"]);
  await tick();
  expect(news()).toEqual([]);
  await expect(channel.follow("fourth", hear("fourth"))).rejects.toThrow("no fourth");
  // Any other failure of the poll does not count as a response.
  gates.respond = async () => {
    throw new Error("out of memory");
  };
  await tick();
  await tick();
  expect(news()).toContain("own: everything");
});

test("the poll renews the process number after five seconds, and nothing enters its transaction", async () => {
  const { channel, clock, session, tick, gates, hear } = await openChannel({ own: {}, second: {} });
  const renewals = (): number => session().sent.filter((text) => String(text).includes("RETURNING")).length;
  const before = renewals();
  clock.ms += 5_000;
  await tick();
  expect(renewals()).toBe(before);
  clock.ms += 1;
  const gate = Promise.withResolvers<void>();
  gates.respond = (text) => (text.includes("RETURNING") ? gate.promise : Promise.resolve());
  await tick();
  expect(renewals()).toBe(before + 1);
  const followed = channel.follow("second", hear("second"));
  await nextTurn();
  expect(session().sent).not.toContain('LISTEN "second"');
  gate.resolve();
  await followed;
  const [commit, listen] = ["COMMIT", 'LISTEN "second"'].map((text) => session().sent.lastIndexOf(text)) as [number, number];
  expect(commit).toBeLessThan(listen);
  clock.ms += 20_000;
  expect(channel.processNumber).toBe(PROCESS_NUMBER);
});
