/** The channel for notices between processes, on a PostgreSQL without a socket, whose tables and responses the test decides. */

import { nextTurn } from "#kernel/turns";
import { FactChannel } from "#storage/postgres/fact-channel";
import { catchTimers, stopMonotonicClock } from "../time/stopped-time.ts";
import { LoneServer, type LoneSession } from "./lone-server.ts";

/** The process number that PostgreSQL returns to every session. */
export const PROCESS_NUMBER = 3;

/** The generation number of each process's slot, by schema. */
type Tables = Record<string, Record<number, number>>;

export async function openChannel(tables: Tables = { own: {} }) {
  const { intervals } = catchTimers();
  const clock = stopMonotonicClock(10_000);
  const server = new LoneServer();
  /** The fake database awaits this function before each response, so that a test can delay the response. */
  const gates = { respond: async (_text: string): Promise<void> => {} };
  server.beginning = (session) => {
    session.respond = async (text) => {
      await gates.respond(text);
      return rowsFor(text, tables);
    };
  };
  const heard: string[] = [];
  const hear = (schema: string) => (kind: string | undefined, key: string | undefined) =>
    heard.push(kind === undefined ? `${schema}: everything` : `${schema}: ${kind} ${key}`);
  const channel = await FactChannel.open(server.asServer, hear("own"));
  const [interval] = intervals as [(typeof intervals)[0]];
  const tick = async (): Promise<void> => {
    interval.fire();
    for (let turn = 0; turn < 3; turn++) await nextTurn();
  };
  const session = (): LoneSession => server.sessions.at(-1) as LoneSession;
  const notify = (payload: string | undefined, schema = "own") => session().emit("notification", { channel: schema, payload });
  /** Returns the messages since the previous call. */
  const news = (): string[] => heard.splice(0);
  return { channel, server, session, clock, interval, tick, notify, hear, news, gates, tables };
}

function rowsFor(text: string, tables: Tables): Record<string, unknown>[] {
  if (/process_numbers/.test(text)) return /RETURNING/.test(text) ? [{ number: PROCESS_NUMBER, holder: "this one" }] : [];
  const schemas = [...text.matchAll(/FROM "(\w+)"\.fact_generations/g)].map(([, schema = ""]) => schema);
  return schemas.flatMap((schema) => {
    const slots = tables[schema];
    if (slots === undefined) throw Object.assign(new Error(`no ${schema}`), { code: "42P01" });
    return Object.entries(slots).map(([slot, generation]) => ({ schema, slot: Number(slot), generation }));
  });
}
