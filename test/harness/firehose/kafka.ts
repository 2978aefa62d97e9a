/** A Kafka broker for tests of the firehose. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { KAFKA } from "#test-runs/programs";
import { afterThisTest } from "../cleanup.ts";
import { freePort } from "../processes/free-port.ts";
import { needs } from "../processes/needs.ts";
import { temporaryFolder } from "../server.ts";

needs("kafka");

export interface Kafka {
  readonly address: string;
  /** Kills the broker with SIGKILL. `start` starts the stopped broker again with the same data. */
  kill(): Promise<void>;
  /** Resolves when the broker listens. */
  start(): Promise<void>;
}

/** A Kafka broker that is its own controller, uses little memory and creates no topics by itself. */
const settingsOf = (folder: string, port: number, controllerPort: number): string => `
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${controllerPort}
listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}
advertised.listeners=PLAINTEXT://127.0.0.1:${port}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs=${join(folder, "data")}
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
`;

const JAVA = ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", `${KAFKA}/*`];
const CLUSTER_ID = "AAAAAAAAAAAAAAAAAAAAAQ";

/** Starts an empty broker, until the test ends. */
export async function startKafka(): Promise<Kafka> {
  const folder = temporaryFolder();
  const [port, controllerPort] = [freePort(), freePort()];
  const settings = join(folder, "server.properties");
  writeFileSync(settings, settingsOf(folder, port, controllerPort));
  const quiet = { cwd: folder, stdin: "ignore", stdout: Bun.file(join(folder, "log")), stderr: "ignore" } as const;
  const formatted = Bun.spawnSync([...JAVA, "kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", settings], { cwd: folder });
  if (!formatted.success) throw new Error(`the broker's folder cannot be made: ${formatted.stdout}${formatted.stderr}`);
  const begin = () => Bun.spawn([...JAVA, "kafka.Kafka", settings], quiet);
  let running = begin();
  const kill = async (): Promise<void> => {
    running.kill("SIGKILL");
    await running.exited;
  };
  afterThisTest(kill);
  const untilThere = async (): Promise<void> => {
    while (!(await isListening(port))) {
      if (running.exitCode !== null) running = begin();
      await Bun.sleep(50);
    }
  };
  await untilThere();
  return {
    address: `127.0.0.1:${port}`,
    kill,
    start: async () => {
      running = begin();
      await untilThere();
    },
  };
}

const isListening = (port: number): Promise<boolean> =>
  Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } }).then(
    (socket) => {
      socket.end();
      return true;
    },
    () => false,
  );
