/**
 * Opens sessions of one schema on the PostgreSQL server that `--data` names. If the address has several hosts, each session is opened on the host
 * that accepts writes.
 */
import { Client, type ClientConfig } from "pg";
import { DatabaseHealth } from "../database-health.ts";
import { NotPrimary, StalePrimary } from "./failures.ts";
import { rowTypes } from "./values.ts";
import { Cluster, isBehind, positionOf } from "./watches/cluster.ts";

/** The time within which one host must accept a connection. */
const CONNECT_MS_MAX = 5_000;

/** Splits an address into three parts: `postgres://user:password@`; the hosts with ports, separated by commas as in libpq; the rest. */
const ADDRESS = /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/is;

/**
 * The accepted values of `target_session_attrs`. All accepted values of `target_session_attrs` have the same effect, because Plaza always needs a
 * host that accepts writes.
 */
const SESSION_ATTRIBUTES = ["any", "read-write", "primary"];

/**
 * The values of libpq's `sslmode`, each with the modes that Plaza tries one after another. With `verify-ca` and `verify-full`, and with `require` and
 * `sslrootcert`, the driver checks the server's certificate. If the address does not contain `sslmode`, the connection is not encrypted.
 */
const SSL_MODES: Readonly<Record<string, readonly string[]>> = {
  disable: ["disable"],
  allow: ["disable", "require"],
  prefer: ["require", "disable"],
  require: ["require"],
  "verify-ca": ["verify-ca"],
  "verify-full": ["verify-full"],
};

/**
 * Turns off some methods of the query planner. Every statement is written for an index and reads only a few rows. PostgreSQL keeps a prepared plan
 * when the table grows, so the planner must not choose a method that is cheaper only while the table has a few pages.
 */
const PLANS = [
  ...["enable_seqscan", "enable_bitmapscan", "enable_hashjoin", "enable_mergejoin", "enable_material", "jit"].map((way) => `SET ${way} = off`),
  // Starting a parallel worker takes milliseconds, which is longer than a statement of Plaza takes. For tables without statistics PostgreSQL chooses
  // plans with parallel workers.
  "SET max_parallel_workers_per_gather = 0",
].join("; ");

/** The error for a database address that cannot work. The message of the error says why the address cannot work. */
export class WrongAddress extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = "WrongAddress";
  }
}

/** Time limits for the statements of a session, measured by the server's clock. */
export interface SessionLimits {
  readonly statementMs: number;
  /** The time that a statement may wait for a lock of another session. */
  readonly lockMs: number;
}

interface SessionOptions extends Pick<ClientConfig, "query_timeout" | "pipeline"> {
  /** If `limits` is left out, the session has no time limits, which is necessary for migrations. */
  readonly limits?: SessionLimits;
}

const limitsText = (limits: SessionLimits | undefined): string =>
  limits === undefined ? "" : `; SET statement_timeout = ${limits.statementMs}; SET lock_timeout = ${limits.lockMs}`;

export class Server {
  readonly schema: string;
  readonly #configs: readonly ClientConfig[];
  /** The index of the host that accepted the last session. Plaza tries the host of the last session first. */
  #first = 0;

  readonly #cluster: Cluster;

  /**
   * `url` is `postgres://user:password@host:port,host:port/database`, with libpq's parameters as query. `cluster` is the cluster of the process; if
   * it is left out, the constructor makes a new one. Throws `WrongAddress`.
   */
  constructor(url: string, schema: string, cluster = new Cluster(new DatabaseHealth())) {
    this.#cluster = cluster;
    this.schema = schema;
    this.#configs = configsOf(url);
  }

  /**
   * Opens a session that accepts writes, in this server's schema unless `schema` is given. If no host can be used, rejects with the error of the last
   * host (e.g. `NotPrimary`), or with `StalePrimary` if any host had this error.
   */
  async connect(more: SessionOptions = {}, schema = this.schema): Promise<Client> {
    if (!this.#cluster.isKnown && this.#configs.length > 1) await this.#findNewest();
    let failure: unknown;
    for (let tried = 0; tried < this.#configs.length; tried++) {
      const at = (this.#first + tried) % this.#configs.length;
      try {
        const { limits, ...config } = more;
        const client = await this.#connectTo({ ...this.#configs[at], ...config }, schema, limits);
        this.#first = at;
        return client;
      } catch (error) {
        // If several hosts fail, `StalePrimary` is reported rather than other errors, because a server that must be stopped is a worse problem than a
        // server that cannot be reached.
        if (!(failure instanceof StalePrimary)) failure = error;
      }
    }
    throw failure;
  }

  /** Opens a session, runs `work` with it, and closes the session. */
  async session<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const client = await this.connect();
    try {
      return await work(client);
    } finally {
      await client.end().catch(() => {});
    }
  }

  /** Finds the newest of several servers that accept writes, so that the first session of a process is opened on this server. */
  async #findNewest(): Promise<void> {
    const found = await Promise.all(
      this.#configs.map(async (config, at) => {
        try {
          const client = await this.#open(config, this.schema);
          const position = await positionOf(client).finally(() => client.end().catch(() => {}));
          return position === undefined ? [] : [{ at, position }];
        } catch {
          // The error of the search is ignored here, because opening the session reports the reason if no server can be used.
          return [];
        }
      }),
    );
    const [first, ...others] = found.flat().sort((one, other) => other.position.timeline - one.position.timeline);
    if (first === undefined) return;
    for (const { position } of others) if (isBehind(position, first.position)) this.#cluster.refuse(position, first.position);
    this.#first = first.at;
  }

  async #connectTo(config: ClientConfig, schema: string, limits: SessionLimits | undefined): Promise<Client> {
    const client = await this.#open(config, schema, limits);
    try {
      const position = await positionOf(client);
      if (position !== undefined) this.#cluster.use(client, position);
      return client;
    } catch (error) {
      void client.end().catch(() => {});
      throw error;
    }
  }

  async #open(config: ClientConfig, schema: string, limits?: SessionLimits): Promise<Client> {
    const client = new Client(config);
    // This handler ignores the error, because a broken connection also fails the running statement, which reports the error.
    client.on("error", () => {});
    try {
      await client.connect();
      const results = (await client.query(`${setUpIn(schema)}${limitsText(limits)}; SELECT pg_is_in_recovery() AS standby`)) as unknown as {
        rows: { standby: number }[];
      }[];
      if (results.at(-1)?.rows[0]?.standby !== 0) throw new NotPrimary();
      return client;
    } catch (error) {
      void client.end().catch(() => {});
      throw error;
    }
  }

  /**
   * Throws `WrongAddress` if a pooler gives each transaction another session (pgbouncer's pool_mode transaction or statement), because settings,
   * prepared statements and LISTEN would then apply to another client's session. The session `one` must be outside a transaction.
   */
  async refuseSharedSessions(one: Client): Promise<void> {
    // A connection pooler reports its own number as the process id of the server.
    const mark = String((one as unknown as { processID: number }).processID);
    const { rows: own } = await one.query<{ pid: number }>("SELECT pg_backend_pid() AS pid").catch(() => ({ rows: [] }));
    if (String(own[0]?.pid) === mark) return;
    await this.session(async (other) => {
      // A connection pooler that shares sessions takes a session back after each transaction, and lends the session that was returned last.
      await one.query("BEGIN");
      await other.query(`SET plaza.session = '${mark}'`);
      await one.query("COMMIT");
      const { rows } = await other.query<{ mark: string | null }>("SELECT current_setting('plaza.session', true) AS mark");
      await one.query("BEGIN");
      const { rows: later } = await other.query<{ mark: string | null }>("SELECT current_setting('plaza.session', true) AS mark");
      await one.query("COMMIT");
      if (rows[0]?.mark !== mark || later[0]?.mark !== mark) throw new WrongAddress(SHARED_SESSIONS);
    });
  }
}

export const chooseSchema = (schema: string): string => `SET search_path TO "${schema}"`;

/**
 * Returns the statement that sets the settings of a session. The settings of a session are sent as a statement, because a pooler or proxy may drop
 * start-up options. Statements outside a write transaction can only read, as statements on SQLite's reading connection.
 */
const setUpIn = (schema: string): string => `${chooseSchema(schema)}; SET default_transaction_read_only = on; ${PLANS}`;

const SHARED_SESSIONS =
  "the database's address belongs to a pooler that may run each transaction in another session (pgbouncer: pool_mode = transaction); " +
  "use the server's own address, or a pool with pool_mode = session";

/** Returns one or two configurations for each host of the address, in the order of the hosts. Throws `WrongAddress`. */
export function configsOf(url: string): ClientConfig[] {
  const [, before = "", hosts = "", rest = ""] = ADDRESS.exec(url) ?? [];
  const [path = "", query = ""] = rest.split("?", 2);
  const parameters = new URLSearchParams(query);
  const wanted = parameters.get("target_session_attrs");
  if (wanted !== null && !SESSION_ATTRIBUTES.includes(wanted)) {
    throw new WrongAddress(`target_session_attrs=${wanted} is not one of ${SESSION_ATTRIBUTES.join(", ")}: Plaza needs a server that accepts writes`);
  }
  parameters.delete("target_session_attrs");
  const ends = sslModesOf(parameters).map((mode) => {
    // Without the parameter `uselibpqcompat` the driver interprets the values of `sslmode` differently from libpq.
    const own = new URLSearchParams(mode === undefined ? parameters : [...parameters, ["sslmode", mode], ["uselibpqcompat", "true"]]);
    return `${path}${own.size === 0 ? "" : `?${own}`}`;
  });
  return hosts.split(",").flatMap((host) =>
    ends.map((end) => ({
      connectionString: `${before}${host}${end}`,
      application_name: "plaza",
      connectionTimeoutMillis: CONNECT_MS_MAX,
      keepAlive: true,
      types: rowTypes,
    })),
  );
}

/** Removes `sslmode` from the parameters, and returns the TLS modes that Plaza tries one after another. Throws `WrongAddress`. */
function sslModesOf(parameters: URLSearchParams): readonly (string | undefined)[] {
  const mode = parameters.get("sslmode");
  if (mode === null) return [undefined];
  const tried = SSL_MODES[mode];
  if (tried === undefined) throw new WrongAddress(`sslmode=${mode} is not one of ${Object.keys(SSL_MODES).join(", ")}`);
  // The value "system" of `sslrootcert` means the system's certificate authorities, which the driver uses by default.
  if (parameters.get("sslrootcert") === "system") parameters.delete("sslrootcert");
  if (mode === "verify-ca" && !parameters.has("sslrootcert"))
    throw new WrongAddress("sslmode=verify-ca requires sslrootcert=FILE, the certificate of the authority; or use sslmode=verify-full");
  parameters.delete("sslmode");
  return tried;
}
