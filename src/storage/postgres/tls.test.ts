/**
 * Checks connections to a PostgreSQL server with TLS, with each value of `sslmode`. The certificate of the test's server is for `receiver.example`
 * and 127.0.0.1.
 */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { authority, receiverCertificate, receiverKey, renewedCertificate } from "#harness/certificates";
import { afterThisTest } from "#harness/cleanup";
import { startPostgresCluster } from "#harness/postgres-cluster";
import { temporaryFolder } from "#harness/server";
import { Server } from "./server.ts";

test("sslmode decides whether the connection is encrypted, and how the certificate is checked", async () => {
  const cluster = await startPostgresCluster();
  afterThisTest(() => cluster.stop());
  const caOf = (pem: string): string => {
    const file = join(temporaryFolder(), "ca.pem");
    writeFileSync(file, pem);
    return encodeURIComponent(file);
  };
  const [ca, other] = [caOf(authority), caOf(renewedCertificate)];
  /** Returns the state of the connection: `encrypted`, `plain`, or the reason why there is no connection. */
  const stateOf = async (query: string, host = "127.0.0.1"): Promise<string> => {
    const url = cluster.url.replace("127.0.0.1", host);
    try {
      const client = await new Server(`${url}?${query}`, "public").connect();
      const { rows } = await client.query<{ ssl: unknown }>(
        "SELECT CASE WHEN ssl THEN 1 ELSE 0 END AS ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()",
      );
      await client.end();
      return rows[0]?.ssl === 1 ? "encrypted" : "plain";
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(await stateOf("sslmode=prefer")).toBe("plain");
  expect(await stateOf("sslmode=require")).toBe("The server does not support SSL connections");
  await turnTlsOn(cluster.url);
  for (const [query, state] of [
    ["", "plain"],
    ["sslmode=disable", "plain"],
    ["sslmode=allow", "plain"],
    ["sslmode=prefer", "encrypted"],
    ["sslmode=require", "encrypted"],
    [`sslmode=require&sslrootcert=${ca}`, "encrypted"],
    [`sslmode=verify-ca&sslrootcert=${ca}`, "encrypted"],
    [`sslmode=verify-full&sslrootcert=${ca}`, "encrypted"],
  ] as const)
    expect({ query, state: await stateOf(query) }).toEqual({ query, state });
  // The certificate does not contain `localhost`, although this name means the same machine.
  expect(await stateOf(`sslmode=verify-ca&sslrootcert=${ca}`, "localhost")).toBe("encrypted");
  expect(await stateOf(`sslmode=verify-full&sslrootcert=${ca}`, "localhost")).toContain("localhost");
  for (const mode of ["require", "verify-ca", "verify-full"])
    expect({ mode, state: await stateOf(`sslmode=${mode}&sslrootcert=${other}`) }).toEqual({
      mode,
      state: expect.stringMatching(/certificate|issuer/),
    });
});

/** Turns TLS on. The server reads its key only from a file that nobody else can read. */
async function turnTlsOn(url: string): Promise<void> {
  const client = new Client(url);
  await client.connect();
  const { rows } = await client.query<{ folder: string }>("SELECT current_setting('data_directory') AS folder");
  for (const [name, pem] of [
    ["server.crt", receiverCertificate],
    ["server.key", receiverKey],
  ] as const)
    await client.query(`COPY (SELECT regexp_split_to_table('${pem.trim()}', E'\\n')) TO PROGRAM 'umask 077; cat > ${rows[0]?.folder}/${name}'`);
  await client.query("ALTER SYSTEM SET ssl = on");
  await client.query("SELECT pg_reload_conf()");
  for (let isOn = false; !isOn; ) {
    const next = new Client(url);
    await next.connect();
    isOn = (await next.query<{ ssl: string }>("SHOW ssl")).rows[0]?.ssl === "on";
    await next.end();
  }
  await client.end();
}
