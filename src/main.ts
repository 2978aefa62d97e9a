/** The composition root of the server: it opens the world and starts the listeners. */
import { hashOf } from "#auth/tokens";
import type { Certificate, ServedCertificate } from "#config/certificate";
import { type Config, ConfigProblem } from "#config/config";
import { listening, pageGuardOf } from "#config/listening";
import { keyRingOf } from "#config/secret-key";
import { announceServer, controlKeyOf, isFolder, keepReplacedKey } from "#config/server-files";
import { AlertLog } from "#control/alert-log";
import { type ControlAppOptions, controlApp } from "#control/app";
import { type ControlServer, serveControl, serveWaiting } from "#control/server";
import type { ControlDeps } from "#control-contract/route";
import { Registry } from "#graph/contract/registry";
import type { RequestDeps } from "#graph/pipeline/handle-request";
import { standardCalendar } from "#graph/versions/calendar";
import { newestVersion } from "#graph/versions/resolve";
import { Worlds } from "#graph/worlds/hosting/worlds";
import { DEFAULT_WORLD } from "#graph/worlds/hosting/worlds.store";
import { LogMemory } from "#graph/worlds/log-memory";
import { migrationsOf, newWorldMemory, openWorld } from "#graph/worlds/open-world";
import { followSettings } from "#graph/worlds/settings";
import type { Streaming, WorkObserver } from "#graph/worlds/world";
import type { SurfaceAddress } from "#http/destinations/destinations";
import { configOfIntercepted, type InterceptedHosts } from "#http/intercept/intercepted-hosts";
import { connectionsWithin, limitsOf, multipartLimits, worldsWithin } from "#http/limits";
import type { Listener } from "#http/listeners/listener";
import { serveRedirects } from "#http/listeners/redirects";
import { certificateOf } from "#http/listeners/served-certificate";
import { describeServer, type ReadyInfo, readyInfo, servedBy, surfaceAddresses } from "#http/ready-info";
import { Health } from "#http/routes/health";
import { loginRoutes } from "#http/routes/login-route";
import { ownRoutes } from "#http/routes/own-routes";
import { type GraphServer, serveGraph } from "#http/server";
import { openLiveIngest } from "#ingest/live-ingest";
import { unixSeconds } from "#kernel/clock";
import type { Tracing } from "#kernel/tracing/tracing";
import { formatVersion } from "#kernel/versions";
import { GuardedClient } from "#outbound/client";
import { version } from "#package.json";
import { removeRecordings } from "#recordings/read-recording";
import type { OnProgress } from "#storage/database";
import { CHECKED_AT_ONCE_BYTES_MAX } from "#storage/database";
import { DatabaseHealth } from "#storage/database-health";
import { databasesIn, isPostgres, openDatabase } from "#storage/open";
import { sharedKeys } from "#storage/sealing";
import {
  collectGarbage,
  cpuMs,
  monotonicMs,
  openFilesMax,
  processFacts,
  randomFraction,
  randomHex,
  randomKey,
  randomSecret,
  realNowMs,
  SeededIds,
  sleepMs,
  TimeOrderedIds,
  tokenValue,
  traceId,
} from "#system";
import { errorFields, type Log, levelOf } from "#telemetry/log";
import { LoopWatch } from "#telemetry/loop-watch";
import { type MetricsReport, metricsReport } from "#telemetry/metrics-report";
import { requestLines, workLog } from "#telemetry/request-lines";
import { RequestMetrics } from "#telemetry/request-metrics";
import type { OpenTracing } from "#telemetry/tracing";
import { checkFiles, worldFiles } from "./data-check.ts";
import { closeExported } from "./export-at-end.ts";
import { features } from "./features.ts";
import { type Beginning, beginWorld, type Demo, demoTokenValues, fillWorld } from "./seed-world.ts";
import { registryWith } from "./stubs.ts";
import { watchWorld } from "./watch-world.ts";

export const buildRegistry = (): Registry => new Registry(features);

/** The time after which the program ends without waiting for requests that are still running (docs/operating/start.md). */
const STOP_WITHIN_MS = 10_000;
/**
 * The time limit for sending the last traces when the program ends. This time is part of `STOP_WITHIN_MS`, the time after which the program ends in
 * any case.
 */
const TRACES_WITHIN_MS = 2_000;
/** The limit of open files that Plaza assumes on systems that do not report one. 10,240 files is a common limit. */
const FILES_MAX_UNKNOWN = 10_240;

export interface RunningPlaza {
  readonly ready: ReadyInfo;
  /** The demo world's tokens and secrets; undefined if the world does not accept these tokens. */
  readonly demo: Demo | undefined;
  /** The newest version as paths contain it, e.g. `v26.0`. */
  readonly newestVersion: string;
  readonly worlds: Worlds;
  /** Reads the metrics of this process. */
  readonly readMetrics: () => MetricsReport;
  /** Sends a request to the control API without a connection; undefined in a process that does not serve the control API. */
  readonly fetchControl: ControlServer["fetch"] | undefined;
  /** The address for encoders; undefined if encoders cannot connect. */
  readonly streaming: Streaming | undefined;
  /** The port on loopback on which `InterceptedHosts` listens; undefined if the server intercepts no hosts. */
  readonly interceptedPort: number | undefined;
  /** The promise resolves when a caller of the control API asks the server to stop. */
  readonly stopAsked: Promise<string>;
  /**
   * Ends the server. The server still serves requests for the time of `--drain-delay-ms`, and after that time accepts no new requests. The promise
   * resolves when the running requests have ended, after 10 s more at most. The export that `--export` writes contains all changes that are made
   * until the promise `others` resolves.
   */
  stop(others?: Promise<void>): Promise<void>;
}

export interface StartOptions {
  /**
   * The listeners that this process runs. If several processes share the port of the graph, each of these processes serves the graph, and one more
   * process serves the control API and loads the world.
   */
  readonly part: "all" | "control" | "graph";
  /** Reads the metrics of all processes. Only a process that does not serve the graph itself gets this option. */
  readonly readMetrics?: () => Promise<MetricsReport>;
  readonly intercepted?: InterceptedHosts | undefined;
}

export async function startPlaza(
  config: Config,
  log: Log,
  { part, readMetrics, intercepted }: StartOptions = { part: "all" },
): Promise<RunningPlaza> {
  const parts = await openParts(config, log, part);
  const { registry, ingest, watch, database, worlds, tracing } = parts;
  const listeners: Pick<GraphServer, "stop">[] = [];
  const [health, ending] = [new Health(() => worlds.ping()), new AbortController()];
  let certificate: Certificate | undefined;
  try {
    certificate = certificateOf(config, log);
    const { demo, file } = part === "graph" ? noBeginning : await beginWorld(worlds.default, registry, config, log);
    if (config.profile !== undefined) worlds.default.profile = config.profile;
    const common = { ...parts, config, log, health };
    const graph = part === "control" ? undefined : await listenGraph({ ...common, certificate, reusePort: part === "graph" });
    if (graph !== undefined) listeners.push(graph, ...(await listenRedirects(config, graph.port, part === "graph")));
    const secure = intercepted && (await listenIntercepted(common, intercepted));
    if (secure !== undefined) listeners.push(secure);
    const streaming = await listening("--rtmp-port", config.host, Number(config.rtmp_port ?? 0), () => ingest.open());
    const metrics = graph?.metrics ?? new RequestMetrics();
    const readOwn = () =>
      metricsReport(processFacts(part === "graph" ? "worker" : "main"), metrics, watch.report(), worlds.open(), database.report(), tracing?.counts);
    const key = part === "graph" ? "" : controlKeyOf(config, randomSecret);
    const graphPort = graph?.port ?? config.port;
    const { server, stopAsked } = servedBy(config, graphPort);
    const control =
      part === "graph"
        ? undefined
        : await listenControl(config, certificate, controlOf(common, key, readMetrics ?? readOwn, { server, ending: ending.signal }, graphPort));
    if (control !== undefined) listeners.push(control);
    if (part !== "graph") ingest.serve(worlds, tracing);
    watch.start();
    if (part === "all") void checkLargeFiles(config, log, database, ending.signal);
    await worlds.start(async (world) => {
      world.streaming = streaming;
      await ingest.opened(world);
    }, part !== "graph");
    const watched = file === undefined || !config.watch ? undefined : watchWorld(worlds, registry, config, file, log);
    const ready = readyInfo(config, graphPort, control?.port ?? config.control_port, key, streaming);
    const withdraw =
      part === "graph" ? () => {} : announceServer(config, { pid: ready.pid, base_url: ready.base_url, control_url: ready.control_url });
    return {
      ...{ ready, streaming, demo, worlds, stopAsked, readMetrics: readOwn, fetchControl: control?.fetch, interceptedPort: secure?.port },
      newestVersion: formatVersion(newestVersion(worlds.default.calendar, unixSeconds(worlds.default.clock))),
      stop: async (others) => {
        const { outbound } = worlds.default;
        await drain(config, log, health, graph);
        const endingMs = monotonicMs();
        ending.abort();
        watch.stop();
        certificate?.close();
        const working = [worlds.default.work.stop(), ingest.stop(), watched?.stop(), others];
        await Promise.all([...listeners.map((listener) => listener.stop(STOP_WITHIN_MS)), ...working]);
        withdraw();
        await (part === "graph" ? worlds.close() : closeExported(worlds, registry, config));
        outbound.close();
        await tracing?.stop(Math.min(TRACES_WITHIN_MS, Math.max(0, STOP_WITHIN_MS - (monotonicMs() - endingMs))));
      },
    };
  } catch (error) {
    certificate?.close();
    await Promise.all([...listeners.map((listener) => listener.stop(0)), ingest.stop()]);
    await worlds.close();
    await tracing?.stop(0);
    throw error;
  }
}

const listenControl = (config: Config, certificate: Certificate | undefined, options: ControlAppOptions): Promise<ControlServer> =>
  listening("--control-port", config.control_host, config.control_port, () =>
    serveControl({
      ...{ ...options, certificate, hstsSeconds: config.hsts_seconds },
      ...{ host: config.control_host, port: config.control_port, pages: pageGuardOf(config) },
    }),
  );

/** D-353: listens on `--redirect-port`, and redirects requests to https. */
async function listenRedirects({ host, redirect_port, public_url }: Config, securePort: number, reusePort: boolean): Promise<Listener[]> {
  if (redirect_port === undefined) return [];
  const options = { hostname: host, port: redirect_port, reusePort, securePort, publicUrl: public_url };
  return [await listening("--redirect-port", host, redirect_port, () => serveRedirects(options))];
}

/** D-350: reports for some time that this process will end soon, so that load balancers choose other processes. */
async function drain({ drain_delay_ms }: Config, log: Log, health: Health, graph: GraphServer | undefined): Promise<void> {
  health.isDraining = true;
  if (drain_delay_ms === 0) return;
  log.info({ drain_delay_ms }, "draining: requests are still served, and /readyz is 503");
  graph?.drain();
  await sleepMs(drain_delay_ms);
}

async function openParts(config: Config, log: Log, part: StartOptions["part"]) {
  const registry = await registryWith(features, config.stub, log);
  const ingest = openLiveIngest(config, log, part !== "graph");
  const [watch, database] = [loopWatch(log), databaseHealth(log)];
  try {
    if (part !== "graph") await awaitMigrations(config, registry, log);
    const tracing = await tracingOf(config, log);
    const worlds = await openWorlds({ config, registry, log, workBegins: watch.begin, database, recordings: ingest.recordings, tracing });
    return { registry, ingest, watch, database, worlds, tracing };
  } catch (error) {
    await ingest.stop();
    throw error;
  }
}

/** D-356: OpenTelemetry is loaded only if traces are on. */
async function tracingOf({ otlp_endpoint: endpoint, trace_ratio: ratio }: Config, log: Log): Promise<OpenTracing | undefined> {
  if (endpoint === undefined) return undefined;
  const { openTracing } = await import("#telemetry/tracing");
  return openTracing({ endpoint, ratio, version, log });
}

/** The result of loading a world in a process that loads no world: neither the demo world nor a world file. */
const noBeginning: Beginning = { demo: undefined, file: undefined };

/** The objects of a server that its listeners share. */
interface Common {
  readonly config: Config;
  readonly log: Log;
  readonly worlds: Worlds;
  readonly registry: Registry;
  readonly health: Health;
}

interface OfGraph extends Common {
  readonly certificate: ServedCertificate | undefined;
  /** Whether several processes listen on the port of the graph. */
  readonly reusePort: boolean;
  readonly tracing: Tracing | undefined;
  readonly surfaces?: readonly SurfaceAddress[];
}

const listenIntercepted = (common: Common & Pick<OfGraph, "tracing">, hosts: InterceptedHosts): Promise<GraphServer> =>
  listenGraph({ ...common, ...hosts, config: configOfIntercepted(common.config, hosts), reusePort: false });

function listenGraph(given: OfGraph): Promise<GraphServer> {
  const { config, log, worlds, registry, certificate, health, reusePort, tracing, surfaces = surfaceAddresses(config) } = given;
  const onUnexpected: RequestDeps["onUnexpected"] = (error, trace_id) =>
    log.error({ trace_id, ...errorFields(error) }, "a request failed unexpectedly");
  const deps: RequestDeps = { registry, traceId, monotonicMs, onUnexpected, tracing };
  const options: Parameters<typeof serveGraph>[0] = {
    ...{ hostname: config.host, port: config.port, reusePort, certificate, deps, worlds, surfaces },
    ...{ health: config.health ? health : undefined, hstsSeconds: config.hsts_seconds },
    limits: limitsOf({
      bodyBytesMax: config.body_bytes_max,
      multipartBytesMaxFor: multipartLimits(registry.endpoints),
      headerBytesMax: config.header_bytes_max,
      bodyMsMax: config.body_ms_max,
      headMsMax: config.head_ms_max,
      keepAliveMs: config.keep_alive_ms,
      requestsMax: config.calls_max,
      connectionsMax: connectionsWithin(config.connections_max, openFilesMax() ?? FILES_MAX_UNKNOWN),
    }),
    ...{ trustedProxies: config.trusted_proxies, publicUrl: config.public_url, pages: pageGuardOf(config) },
    extraRoutes: ownRoutes(deps, surfaces, {
      version: () => formatVersion(newestVersion(worlds.default.calendar, unixSeconds(worlds.default.clock))),
      isCountryChosen: config.sandbox,
      countryHeader: config.country_header,
    }),
    pageRoutes: loginRoutes(config),
    onServed: config.quiet || !log.shows("info") ? undefined : requestLines(log, process.pid),
  };
  return listening("--port", config.host, config.port, () => serveGraph(options));
}

/**
 * D-347: with PostgreSQL and without a sandbox, the command `plaza migrate` migrates the data of an earlier version, and a starting server waits
 * until the command has done this. While the server waits, the control port reports that the process is alive and not ready. A server that finds an
 * empty database creates the tables at the start, because no other process can use them yet.
 */
async function awaitMigrations(config: Config, registry: Registry, log: Log): Promise<void> {
  if (!isPostgres(config.data) || config.sandbox) return;
  const databases = await databasesIn(config.data, migrationsOf(registry));
  let waiting: Listener | undefined;
  try {
    for (;;) {
      const pending = (await databases.pending(DEFAULT_WORLD)) ?? [];
      if (pending.length === 0) return;
      log.info({ pending: pending.length, next: pending[0] }, "waiting for plaza migrate");
      const certificate = waiting === undefined ? certificateOf(config, log) : undefined;
      waiting ??= await listening("--control-port", config.control_host, config.control_port, () =>
        serveWaiting({ host: config.control_host, port: config.control_port, certificate, reason: "the data waits for plaza migrate" }),
      );
      await sleepMs(LINE_EVERY_MS);
    }
  } finally {
    await waiting?.stop(0);
  }
}

/** The minimum time between two lines of the log about the progress of a migration. */
const LINE_EVERY_MS = 1_000;

function migrationLines(log: Log): OnProgress {
  let [last, lastMs] = ["", 0];
  return ({ migration, done, total, rows }) => {
    const nowMs = monotonicMs();
    if (migration === last && nowMs - lastMs < LINE_EVERY_MS) return;
    [last, lastMs] = [migration, nowMs];
    log.info({ migration, done, total, rows }, "migrating the data");
  };
}

/** The time limit for checking the files of worlds for damage. In this time, the process that checks reads more than three gigabytes. */
const CHECKED_WITHIN_MS = 60_000;

/** Checks the large files of worlds after the start. The start has already checked the small files (D-343). */
async function checkLargeFiles({ data }: Config, log: Log, health: DatabaseHealth, ending: AbortSignal): Promise<void> {
  const files = isFolder(data) ? worldFiles(data, CHECKED_AT_ONCE_BYTES_MAX) : [];
  if (files.length === 0) return;
  const { checked, unfinished } = await checkFiles(files, CHECKED_WITHIN_MS, ending);
  for (const { file, problem } of checked) if (problem !== undefined) health.failed("file_damaged", new Error(`${file} ${problem}`));
  if (unfinished.length > 0 && !ending.aborted)
    log.warn({ files: unfinished.join(", ") }, "the check of these files did not finish; run plaza doctor to check them");
}

const databaseHealth = (log: Log): DatabaseHealth =>
  new DatabaseHealth({
    nowMs: realNowMs,
    onSeen: ({ kind, database, text, cause, count, since_ms }) =>
      log.error({ problem: kind, database, cause, failed: count, since: new Date(since_ms).toISOString() }, `a problem of the database: ${text}`),
    onEnded: ({ kind, database, count, since_ms }) =>
      log.info({ problem: kind, database, failed: count, since: new Date(since_ms).toISOString() }, "a problem of the database ended"),
  });

function loopWatch(log: Log): LoopWatch {
  return new LoopWatch({
    nowMs: monotonicMs,
    cpuMs,
    afterTurn: setImmediate,
    onHold: ({ work, id, ms }) => log.warn({ work, id, ms: Math.round(ms) }, "this work blocked the event loop, so all other requests waited"),
  });
}

interface OfWorlds extends Pick<Common, "config" | "registry" | "log"> {
  readonly workBegins: WorkObserver["workBegins"];
  readonly database: DatabaseHealth;
  readonly recordings?: string | undefined;
  readonly tracing?: Tracing | undefined;
}

async function openWorlds({ config, registry, log, workBegins, database: health, recordings, tracing }: OfWorlds): Promise<Worlds> {
  const rateLimits = { app_calls_per_hour: config.app_calls_per_hour, page_calls_per_hour: config.page_calls_per_hour };
  const faults = { sleepMs, randomFraction, monotonicMs };
  // All worlds share one log, one set of ports, one client for requests and one set of keys, because these objects contain no data of a world.
  const logMemory = new LogMemory();
  const ports = registry.openPorts();
  const outbound = new GuardedClient({ rules: { isSandbox: config.sandbox, allowed: config.allow_callback } });
  const keys = sharedKeys(keyRingOf(config, randomKey), async () => (await worlds).hasMore());
  const migrations = migrationsOf(registry);
  const worldOptions = {
    ...{ registry, ports, outbound, keys, rateLimits, faults, recordings, realNowMs, randomSecret, collectGarbage },
    isSandbox: config.sandbox,
    profile: config.profile ?? "strict",
    seed: config.seed,
    calendar: standardCalendar,
    settings: config.settings,
    ...{ deliveriesPerSecondMax: config.deliveries_per_second, hasWebhookLog: config.webhook_log },
    timeOrderedIds: (processNumber: () => number) => new TimeOrderedIds(processNumber),
    seededIds: (next: bigint) => new SeededIds(next),
    tracing,
  };
  const databases = await databasesIn(config.data, migrations, {
    ...{ version, health, onProgress: migrationLines(log), databases: config.databases },
    limits: { connections: config.database_connections, statementMs: config.statement_ms_max, lockMs: config.lock_ms_max },
  });
  const worlds = Worlds.open({
    databases,
    openMax: worldsWithin(config.open_worlds_max, openFilesMax() ?? FILES_MAX_UNKNOWN),
    newMemory: () => newWorldMemory({ ...worldOptions, logMemory }),
    removeFiles: (name) => (recordings === undefined ? Promise.resolve() : removeRecordings(recordings, name)),
    fillFirst: (world) => fillWorld(world, registry, config),
    ...{ realNowMs, randomSecret, collectGarbage },
    onError: (error) => log[levelOf(error)](errorFields(error), "an idle world could not be closed or reopened"),
    openEmpty: async (profile = config.profile ?? "strict") =>
      openWorld({ ...worldOptions, name: "", database: await openDatabase({ data: ":memory:", world: "empty", migrations }), profile }),
    async openWorld(name, database, memory) {
      const world = await openWorld({ ...worldOptions, name, database, memory, observer: workLog(log, name, workBegins) });
      if (!(await ports.get("sealed_values").opensAny(database.reader, world))) throw wrongKey(config);
      if (keys.previous.length > 0) await database.write((tx) => world.ports.get("sealed_values").schedule(tx, world));
      await followSettings(world, (error) =>
        log[levelOf(error)]({ world: name, ...errorFields(error) }, "the world's settings could not be read again"),
      );
      return world;
    },
  });
  return worlds;
}

/** D-344: returns the problem for a key that opens none of the stored secrets. */
const wrongKey = ({ data, secret_key }: Config): ConfigProblem =>
  secret_key === undefined && isFolder(data)
    ? new ConfigProblem("--data", `the key in ${data}/secret.key cannot decrypt the stored secrets: restore the file from its backup`)
    : new ConfigProblem(
        "PLAZA_SECRET_KEY",
        "the key cannot decrypt the stored secrets: set the key that encrypted them, or add that key to PLAZA_FURTHER_SECRET_KEYS",
      );

function controlOf(
  { config, log, worlds, registry, health }: Common,
  key: string,
  readMetrics: ControlAppOptions["readMetrics"],
  special: Pick<ControlDeps, "server" | "ending">,
  graphPort = config.port,
): ControlAppOptions {
  return {
    key,
    deps: {
      ...{ ...special, registry, worlds },
      servesGraph: config.workers === 1,
      describeServer: (hostname) => describeServer(config, hostname, graphPort, worlds.default.streaming),
      mintTokenValue: tokenValue,
      audit: { days: config.audit_days, reads: config.audit_reads },
      ...{ newRandom: randomHex, ...(config.sandbox ? { demoTokenValues } : {}) },
      onTokenCopied: (token, copy) => log.info({ token, copy }, "a short-lived copy of a token was created"),
      databaseProblems: async () => (await readMetrics()).database.problems,
      onTimeMoved: [(moved) => moved.work.runDue()],
      realTime: { nowMs: realNowMs, monotonicMs, sleepMs },
      onKeyReplaced: (oldHash, replacing) => keepReplacedKey(config, (kept) => hashOf(kept) === oldHash, replacing),
    },
    ...{ readMetrics, health, alerts: new AlertLog(registry, () => worlds.open(), log) },
    onUnexpected: (error, operation) => log.error({ operation, ...errorFields(error) }, "a control request failed unexpectedly"),
  };
}

/** The size of a generated control key, which has 192 bits. */
const KEY_BYTES = 24;

export interface ControlAlone {
  readonly key: string;
  fetch(request: Request): Promise<Response>;
  stop(): Promise<void>;
}

/**
 * Starts the control API for one command, on data that no server uses. The control API of a command does not listen on a port, so only the command's
 * own process can send it requests. The worlds of such a command do no background work, so no webhook is sent.
 */
export async function startControlAlone(config: Config, log: Log, key = randomSecret(KEY_BYTES)): Promise<ControlAlone> {
  const registry = buildRegistry();
  // The function `workBegins` does nothing, because the process of a command serves no other requests that would have to wait.
  const database = databaseHealth(log);
  const worlds = await openWorlds({ config, registry, log, workBegins: () => {}, database });
  try {
    const common = { config, log, worlds, registry, health: new Health(() => worlds.ping()) };
    const special = { server: servedBy(config, config.port).server, ending: new AbortController().signal };
    const readMetrics = () => metricsReport(processFacts("main"), new RequestMetrics(), { lagP99Ms: 0, holds: [] }, worlds.open(), database.report());
    const app = controlApp(controlOf(common, key, readMetrics, special));
    return { key, fetch: async (request) => app.fetch(request), stop: () => worlds.close() };
  } catch (error) {
    await worlds.close();
    throw error;
  }
}
