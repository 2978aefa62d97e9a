/** nginx with its RTMP module, as an example of a media server that is not Plaza's. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../processes/free-port.ts";
import { needs } from "../processes/needs.ts";

needs("nginx-rtmp");

/** The path of the module in Debian's package libnginx-mod-rtmp. */
const MODULE = "/usr/lib/nginx/modules/ngx_rtmp_module.so";

export const hasNginxRtmp = (): boolean => existsSync(MODULE);

export interface NginxRtmp {
  readonly pid: number;
  /** The address for encoders, as `{hostname}:{port}`, with the application `live`. */
  readonly host: string;
  /** The folder of the HLS output: `{key}.m3u8` and its segments. */
  readonly segments: string;
  stop(): Promise<void>;
}

/**
 * Starts nginx as one process that makes HLS. `directives` are added to the configuration of the RTMP application; `onCore` is inserted before its
 * command.
 */
export async function startNginxRtmp(folder: string, directives: readonly string[], onCore: readonly string[] = []): Promise<NginxRtmp> {
  if (!hasNginxRtmp()) throw new Error("nginx has no RTMP module: install it with apt-get install nginx libnginx-mod-rtmp");
  const port = freePort();
  const segments = join(folder, "hls");
  mkdirSync(segments, { recursive: true });
  const hls = ["hls on;", `hls_path ${segments};`, "hls_fragment 1s;", "hls_playlist_length 10m;", "hls_cleanup off;"];
  const config = `load_module ${MODULE};
daemon off;
master_process off;
pid ${join(folder, "nginx.pid")};
error_log ${join(folder, "nginx.log")} warn;
events { worker_connections 1024; }
rtmp { server { listen 127.0.0.1:${port}; chunk_size 4096; notify_method post; notify_update_timeout 1s;
  application live { live on; ${[...hls, ...directives].join(" ")} } } }
`;
  const file = join(folder, "nginx.conf");
  writeFileSync(file, config);
  const child = Bun.spawn([...onCore, Bun.which("nginx", { PATH: `${process.env.PATH}:/usr/sbin` }) ?? "nginx", "-c", file], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  while (!(await isListening(port))) {
    if (child.exitCode !== null) throw new Error(`nginx ended: ${await Bun.file(join(folder, "nginx.log")).text()}`);
    await Bun.sleep(20);
  }
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await child.exited;
  };
  return { pid: child.pid, host: `127.0.0.1:${port}`, segments, stop };
}

async function isListening(port: number): Promise<boolean> {
  try {
    const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data: () => {} } });
    socket.end();
    return true;
  } catch {
    return false;
  }
}
