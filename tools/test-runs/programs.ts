/** The programs that tests start besides Plaza, and how a machine gets them. Only tests need these programs; Plaza runs without them. */

interface Program {
  readonly title: string;
  /**
   * The commands that must be on the PATH, or in Debian's folder for administrators. `a|b` means that one of the commands `a` and `b` is
   * enough.
   */
  readonly commands: readonly string[];
  /** A command that succeeds if everything that the program needs is installed. */
  readonly probe?: readonly string[];
  /** The Debian packages that contain the program. */
  readonly packages: readonly string[];
  /** A script that installs the program for this project alone, after the Debian packages are installed. */
  readonly script?: string;
  /** How to install the program on a system without apt. */
  readonly elsewhere: string;
}

const ROOT = new URL("../..", import.meta.url).pathname;
/** The path of SeaweedFS, which its script installs for this project alone. */
export const WEED = `${ROOT}.tools/seaweedfs/bin/weed`;

/** The folder of Kafka's files, which its script installs for this project alone. */
export const KAFKA = `${ROOT}.tools/kafka/lib`;

export const programs = {
  chromium: {
    title: "Chromium or Chrome",
    commands: ["chromium|google-chrome"],
    packages: ["chromium"],
    elsewhere: "put a link named chromium to your browser on the PATH",
  },
  curl: { title: "curl", commands: ["curl"], packages: ["curl"], elsewhere: "install curl" },
  ffmpeg: { title: "ffmpeg with libx264", commands: ["ffmpeg", "ffprobe"], packages: ["ffmpeg"], elsewhere: "brew install ffmpeg" },
  gstreamer: {
    title: "GStreamer with rtmp2sink, x264enc and voaacenc",
    commands: ["gst-launch-1.0", "gst-inspect-1.0"],
    probe: ["sh", "-c", "for element in rtmp2sink rtmpsink x264enc voaacenc flvmux aacparse; do gst-inspect-1.0 $element || exit 1; done"],
    packages: ["gstreamer1.0-tools", ...["base", "good", "bad", "ugly"].map((kind) => `gstreamer1.0-plugins-${kind}`)],
    elsewhere: "brew install gstreamer",
  },
  haproxy: { title: "HAProxy", commands: ["haproxy"], packages: ["haproxy"], elsewhere: "brew install haproxy" },
  java: {
    title: "a JDK of version 17 or newer",
    commands: ["java", "javac"],
    packages: ["default-jdk-headless"],
    elsewhere: "brew install openjdk",
  },
  kafka: {
    title: "Kafka",
    commands: ["java", "mvn"],
    probe: ["cmp", "-s", `${ROOT}tools/install/kafka.txt`, `${ROOT}.tools/kafka/installed.txt`],
    packages: ["default-jre-headless", "maven"],
    script: "tools/install/kafka.sh",
    elsewhere: "brew install maven, then sh tools/install/kafka.sh",
  },
  nginx: { title: "nginx", commands: ["nginx"], packages: ["nginx"], elsewhere: "brew install nginx" },
  "nginx-rtmp": {
    title: "nginx's RTMP module",
    commands: ["nginx"],
    probe: ["test", "-e", "/usr/lib/nginx/modules/ngx_rtmp_module.so"],
    packages: ["nginx", "libnginx-mod-rtmp"],
    elsewhere: "run these tests on Debian",
  },
  tmpfs: {
    title: "the right to mount a small disk",
    commands: ["mount", "umount"],
    probe: ["sh", "-c", "d=$(mktemp -d) && mount -t tmpfs -o size=1m tmpfs $d && umount $d && rmdir $d"],
    packages: ["mount"],
    elsewhere: "run these tests as root on Linux",
  },
  patroni: {
    title: "Patroni and etcd",
    commands: ["patroni", "etcd", "ps"],
    packages: ["patroni", "python3-etcd", "etcd-server", "procps"],
    elsewhere: "brew install etcd; pip install patroni[etcd3]",
  },
  php: {
    title: "PHP with curl",
    commands: ["php"],
    probe: ["php", "-r", "exit(function_exists('curl_init') ? 0 : 1);"],
    packages: ["php-cli", "php-curl"],
    elsewhere: "brew install php",
  },
  pgbouncer: { title: "PgBouncer", commands: ["pgbouncer"], packages: ["pgbouncer"], elsewhere: "brew install pgbouncer" },
  "postgresql-tools": {
    title: "PostgreSQL with pg_dump and pg_basebackup",
    commands: ["pg_dump", "pg_restore"],
    probe: ["sh", "-c", "command -v initdb || ls /usr/lib/postgresql/*/bin/initdb"],
    packages: ["postgresql"],
    elsewhere: "brew install postgresql@15, and put its folder on the PATH",
  },
  prometheus: { title: "Prometheus", commands: ["prometheus", "promtool"], packages: ["prometheus"], elsewhere: "brew install prometheus" },
  python: {
    title: "Python 3.10 or newer with pip and venv",
    commands: ["python3"],
    probe: ["python3", "-c", "import ensurepip, pip, venv"],
    packages: ["python3", "python3-pip", "python3-venv"],
    elsewhere: "brew install python",
  },
  ruby: { title: "Ruby", commands: ["ruby"], packages: ["ruby"], elsewhere: "brew install ruby" },
  seaweedfs: {
    title: "SeaweedFS",
    commands: ["python3"],
    probe: ["test", "-x", WEED],
    packages: ["python3", "python3-pip", "python3-venv"],
    script: "tools/install/seaweedfs.sh",
    elsewhere: "sh tools/install/seaweedfs.sh",
  },
  /** The registry is listed like a program, because the test fetches packages from it while it runs. */
  registry: { title: "the registry of npm", commands: ["npm"], packages: [], elsewhere: "install npm" },
} as const satisfies Record<string, Program>;

export type ProgramName = keyof typeof programs;

export const isProgram = (name: string): name is ProgramName => Object.hasOwn(programs, name);

const PATH = `${process.env.PATH}:/usr/sbin:/usr/local/sbin`;

const isThere = ({ commands, probe }: Program): boolean =>
  commands.every((command) => command.split("|").some((name) => Bun.which(name, { PATH }) !== null)) &&
  (probe === undefined || Bun.spawnSync([...probe]).success);

export const missing = (names: Iterable<ProgramName>): ProgramName[] => [...new Set(names)].filter((name) => !isThere(programs[name]));

/** Whether this process can install packages: it must be root on Debian, in CI or elsewhere. */
const canInstall = (): boolean => process.getuid?.() === 0 && Bun.which("apt-get") !== null;

/**
 * The script that keeps packages from starting services: Debian calls this script before it starts the service of a new package, and exit
 * code 101 forbids the start.
 */
const POLICY = "/usr/sbin/policy-rc.d";
const INSTALL = `set -e
export DEBIAN_FRONTEND=noninteractive
if [ ! -e ${POLICY} ]; then printf '#!/bin/sh\\nexit 101\\n' >${POLICY}; chmod +x ${POLICY}; trap 'rm -f ${POLICY}' EXIT; fi
apt-get -o Acquire::http::Timeout=15 update -qq || echo "apt-get update failed; trying with the lists that are there"
apt-get install -y -qq --no-install-recommends "$@"`;

/** Prints and installs the missing programs if this process can install packages. Returns the programs that are still missing. */
export function install(names: Iterable<ProgramName>): ProgramName[] {
  const wanted = missing(names);
  if (wanted.length === 0 || !canInstall()) return wanted;
  const packages = [...new Set(wanted.flatMap((name) => programs[name].packages))];
  console.log(`Installing with apt-get: ${packages.join(" ")} …`);
  const run = Bun.spawnSync(["sh", "-c", INSTALL, "install", ...packages], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  if (!run.success) console.error(`${run.stdout}${run.stderr}`);
  const known: readonly Program[] = missing(wanted).map((name) => programs[name]);
  for (const { script } of known)
    if (script !== undefined) Bun.spawnSync(["sh", `${ROOT}${script}`], { stdin: "ignore", stdout: "inherit", stderr: "inherit" });
  return missing(wanted);
}
