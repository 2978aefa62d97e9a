/**
 * A durable PostgreSQL that only the benches use, with functions that measure how much CPU time and how many messages a server's requests cost
 * there.
 */
import { readdirSync, readFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { Client } from "pg";
import { type PostgresCluster, startPostgresCluster } from "#harness/postgres-cluster";
import { cpuMicroseconds } from "./machine.ts";

export interface BenchPostgres {
  /** Creates an empty database and returns its address. */
  newDatabase(): Promise<string>;
  /** The CPU time in µs of all processes of this PostgreSQL, including those that have ended. */
  cpuMicroseconds(): number;
  stop(): Promise<void>;
}

export async function startPostgres(): Promise<BenchPostgres> {
  const cluster: PostgresCluster = await startPostgresCluster({ isDurable: true });
  const client = new Client({ connectionString: cluster.url });
  await client.connect();
  const { rows } = await client.query<{ data: string }>("SELECT current_setting('data_directory') AS data");
  await client.end();
  const main = Number(readFileSync(`${rows[0]?.data}/postmaster.pid`, "utf8").split("\n", 1)[0]);
  return {
    newDatabase: () => cluster.newDatabase(),
    cpuMicroseconds: () => withChildren(main),
    stop: () => cluster.stop(),
  };
}

/** Returns the CPU time of a process and its children, in µs. */
export function withChildren(pid: number): number {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number),
  );
  return [pid, ...children].reduce((sum, each) => sum + cpuOfLiving(each), 0);
}

function cpuOfLiving(pid: number): number {
  try {
    return cpuMicroseconds(pid);
  } catch {
    return 0;
  }
}

export interface Counted {
  /** The number of statements, including BEGIN and COMMIT. */
  readonly statements: number;
  /**
   * The number of round trips: how often the server sent a message on a connection after the database had answered all earlier messages of the
   * connection.
   */
  readonly roundTrips: number;
}

export interface CountingProxy {
  /** The address of the database through the proxy. */
  readonly url: string;
  /** Returns the counts since the previous call. */
  take(): Counted;
  stop(): Promise<void>;
}

const EXECUTE = "E".charCodeAt(0);
const QUERY = "Q".charCodeAt(0);

/** Starts a proxy between a server and its database, which counts the server's messages (PostgreSQL's protocol 3: a byte, a length, a body). */
export async function countBetween(url: string): Promise<CountingProxy> {
  const target = new URL(url);
  let statements = 0;
  let roundTrips = 0;
  const open = new Set<Socket>();
  const proxy = createServer((client) => {
    const database = connect(Number(target.port), target.hostname);
    let hasResponded = true;
    const messages = messageKinds((kind) => {
      if (kind === EXECUTE || kind === QUERY) statements++;
    });
    client.on("data", (bytes) => {
      if (hasResponded) roundTrips++;
      hasResponded = false;
      messages(bytes as Buffer);
      database.write(bytes);
    });
    database.on("data", (bytes) => {
      hasResponded = true;
      client.write(bytes);
    });
    for (const [one, other] of [
      [client, database],
      [database, client],
    ] as const) {
      open.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        open.delete(one);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const through = new URL(url);
  through.port = String((proxy.address() as { port: number }).port);
  return {
    url: through.href,
    take() {
      const counted = { statements, roundTrips };
      statements = 0;
      roundTrips = 0;
      return counted;
    },
    async stop() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}

/** Calls `found` with the type of each message. The first message of a connection has no type. */
function messageKinds(found: (kind: number) => void): (bytes: Buffer) => void {
  let rest = Buffer.alloc(0);
  let isFirst = true;
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      const kindLength = isFirst ? 0 : 1;
      if (rest.length < kindLength + 4) return;
      const size = kindLength + rest.readUInt32BE(kindLength);
      if (rest.length < size) return;
      if (!isFirst) found(rest[0] as number);
      isFirst = false;
      rest = rest.subarray(size);
    }
  };
}
