/** Starts two PostgreSQL servers under Patroni with etcd, and HAProxy in front, from the files of deploy/patroni. */
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterThisTest } from "#harness/cleanup";
import { serverUser } from "#harness/postgres-cluster";
import { childrenOf } from "#harness/processes/children";
import { freePort } from "#harness/processes/free-port";
import { needs } from "#harness/processes/needs";

const DEPLOY = join(import.meta.dir, "../../../deploy/patroni");
needs("patroni", "haproxy", "postgresql-tools");

const PROGRAMS = "/usr/lib/postgresql";
const SECRET = "of-a-test";

interface Node {
  readonly name: string;
  readonly port: number;
  readonly restPort: number;
  process: ChildProcess;
}

function freePorts(count: number): number[] {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(freePort());
  return [...ports];
}

async function becomes(isTrue: () => Promise<boolean>, what: string, log: () => string): Promise<void> {
  const end = performance.now() + 90_000;
  while (!(await isTrue().catch(() => false))) {
    if (performance.now() > end) throw new Error(`${what}: not within 90 s\n${log()}`);
    await Bun.sleep(100);
  }
}

export class PatroniCluster {
  readonly #folder = mkdtempSync(join(tmpdir(), "plaza-patroni-"));
  readonly #user = serverUser();
  readonly #nodes: Node[] = [];
  #proxyPort = 0;
  #etcdPort = 0;

  static async start(): Promise<PatroniCluster> {
    const cluster = new PatroniCluster();
    afterThisTest(() => cluster.#remove());
    await cluster.#start();
    return cluster;
  }

  /** The address of a database for connections through HAProxy. */
  proxyUrl(database: string): string {
    return `postgres://postgres:${SECRET}@127.0.0.1:${this.#proxyPort}/${database}`;
  }

  /** The address of a database with both servers by name. */
  hostsUrl(database: string): string {
    return `postgres://postgres:${SECRET}@${this.#nodes.map(({ port }) => `127.0.0.1:${port}`).join(",")}/${database}`;
  }

  /** Makes a new database and returns its name. */
  async newDatabase(): Promise<string> {
    const client = new Client({ connectionString: this.proxyUrl("postgres") });
    await client.connect();
    await client.query("CREATE DATABASE test").finally(() => client.end());
    return "test";
  }

  /** Makes the other server the primary by an orderly switchover of Patroni. */
  async switchOver(): Promise<void> {
    const { primary, standby } = await this.#roles();
    const body = JSON.stringify({ leader: primary.name, candidate: standby.name });
    const response = await fetch(`http://127.0.0.1:${primary.restPort}/switchover`, { method: "POST", body });
    if (!response.ok) throw new Error(`switchover: ${response.status} ${await response.text()}`);
    await this.#isWhole(standby);
  }

  /**
   * Kills Patroni and PostgreSQL of the primary with SIGKILL, as if its machine were lost. Starts the killed programs again after the other server
   * has taken over.
   */
  async crash(): Promise<void> {
    const { primary, standby } = await this.#roles();
    this.#killNode(primary);
    await becomes(
      async () => (await this.#status(standby, "primary")) === 200,
      "the standby takes over",
      () => this.#logs(),
    );
    primary.process = this.#startPatroni(primary);
    await this.#isWhole(standby);
  }

  async #start(): Promise<void> {
    chmodSync(this.#folder, 0o755);
    if (this.#user !== undefined) chownSync(this.#folder, this.#user.uid, this.#user.gid);
    const [etcd = 0, peer = 0, proxy = 0, ...ports] = freePorts(7);
    this.#etcdPort = etcd;
    this.#proxyPort = proxy;
    const etcdUrl = `http://127.0.0.1:${etcd}`;
    const peerUrl = `http://127.0.0.1:${peer}`;
    this.#run("etcd", "etcd", [
      ...["--data-dir", join(this.#folder, "etcd-data"), "--listen-client-urls", etcdUrl, "--advertise-client-urls", etcdUrl],
      ...["--listen-peer-urls", peerUrl, "--initial-advertise-peer-urls", peerUrl, "--initial-cluster", `default=${peerUrl}`, "--unsafe-no-fsync"],
    ]);
    await becomes(
      async () => (await fetch(`${etcdUrl}/health`)).ok,
      "etcd",
      () => this.#logs(),
    );
    for (const name of ["one", "two"]) {
      const node = { name, port: ports.pop() ?? 0, restPort: ports.pop() ?? 0 };
      this.#nodes.push({ ...node, process: this.#startPatroni(node) });
      await becomes(
        async () => (await this.#status(this.#nodes[0] as Node, "primary")) === 200,
        "the first server",
        () => this.#logs(),
      );
    }
    const [one, two] = this.#nodes as [Node, Node];
    // These times are shorter than in production, so that a test does not wait half a minute after a primary has died.
    await fetch(`http://127.0.0.1:${one.restPort}/config`, { method: "PATCH", body: JSON.stringify({ ttl: 20, loop_wait: 2, retry_timeout: 3 }) });
    this.#run("haproxy", "haproxy", ["-f", join(DEPLOY, "haproxy.cfg"), "-db"], {
      HAPROXY_LISTEN: `127.0.0.1:${proxy}`,
      POSTGRES_ONE: `127.0.0.1:${one.port}`,
      POSTGRES_TWO: `127.0.0.1:${two.port}`,
      PATRONI_PORT_ONE: String(one.restPort),
      PATRONI_PORT_TWO: String(two.restPort),
    });
    await this.#isWhole(one);
  }

  /** Whether `primary` is the primary, the other server follows it synchronously, and the proxy leads to it. */
  async #isWhole(primary: Node): Promise<void> {
    const standby = this.#nodes.find((node) => node !== primary) as Node;
    const isServing = async () => {
      const client = new Client({ connectionString: this.proxyUrl("postgres") });
      client.on("error", () => {});
      await client.connect();
      const { rows } = await client.query("SELECT pg_is_in_recovery() AS standby").finally(() => client.end());
      return rows[0]?.standby === false;
    };
    await becomes(
      async () => (await this.#status(primary, "primary")) === 200,
      `${primary.name} is primary`,
      () => this.#logs(),
    );
    await becomes(
      async () => (await this.#status(standby, "synchronous")) === 200,
      `${standby.name} follows`,
      () => this.#logs(),
    );
    await becomes(isServing, "the proxy", () => this.#logs());
  }

  async #roles(): Promise<{ primary: Node; standby: Node }> {
    const [one, two] = this.#nodes as [Node, Node];
    return (await this.#status(one, "primary")) === 200 ? { primary: one, standby: two } : { primary: two, standby: one };
  }

  #status({ restPort }: Node, role: string): Promise<number> {
    return fetch(`http://127.0.0.1:${restPort}/${role}`).then(({ status }) => status);
  }

  #startPatroni({ name, port, restPort }: Omit<Node, "process">): ChildProcess {
    const version = readdirSync(PROGRAMS).sort((a, b) => Number(b) - Number(a))[0];
    return this.#run(name, "patroni", [join(DEPLOY, "patroni.yml")], {
      PATRONI_NAME: name,
      PATRONI_RESTAPI_LISTEN: `127.0.0.1:${restPort}`,
      PATRONI_RESTAPI_CONNECT_ADDRESS: `127.0.0.1:${restPort}`,
      PATRONI_POSTGRESQL_LISTEN: `127.0.0.1:${port}`,
      PATRONI_POSTGRESQL_CONNECT_ADDRESS: `127.0.0.1:${port}`,
      PATRONI_POSTGRESQL_DATA_DIR: join(this.#folder, `${name}-data`),
      PATRONI_POSTGRESQL_BIN_DIR: `${PROGRAMS}/${version}/bin`,
      PATRONI_POSTGRESQL_PGPASS: join(this.#folder, `${name}-pgpass`),
      PATRONI_ETCD3_HOSTS: `127.0.0.1:${this.#etcdPort}`,
      PATRONI_SUPERUSER_USERNAME: "postgres",
      PATRONI_SUPERUSER_PASSWORD: SECRET,
      PATRONI_REPLICATION_USERNAME: "replicator",
      PATRONI_REPLICATION_PASSWORD: SECRET,
      PATRONI_REWIND_USERNAME: "postgres",
      PATRONI_REWIND_PASSWORD: SECRET,
    });
  }

  readonly #processes: ChildProcess[] = [];

  #run(log: string, program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
    mkdirSync(this.#folder, { recursive: true });
    const file = openSync(join(this.#folder, `${log}.log`), "a");
    const child = spawn(program, args, {
      ...this.#user,
      cwd: this.#folder,
      env: { PATH: process.env.PATH, LC_ALL: "C.UTF-8", HOME: this.#folder, ...env },
      stdio: ["ignore", file, file],
    });
    this.#processes.push(child);
    return child;
  }

  #killNode({ name, process: patroni }: Node): void {
    patroni.kill("SIGKILL");
    try {
      const [pid] = readFileSync(join(this.#folder, `${name}-data`, "postmaster.pid"), "utf8").split("\n", 1);
      for (const each of [Number(pid), ...childrenOf(Number(pid))]) if (each > 1) process.kill(each, "SIGKILL");
    } catch {
      // The process does not run.
    }
  }

  async #remove(): Promise<void> {
    for (const node of this.#nodes) this.#killNode(node);
    for (const child of this.#processes) child.kill("SIGKILL");
    await Promise.all(
      this.#processes.map((child) =>
        child.exitCode === null && child.signalCode === null ? new Promise((resolve) => child.once("exit", resolve)) : undefined,
      ),
    );
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #logs(): string {
    return readdirSync(this.#folder)
      .filter((name) => name.endsWith(".log"))
      .map((name) => `${name}:\n${readFileSync(join(this.#folder, name), "utf8").slice(-3_000)}`)
      .join("\n");
  }
}
