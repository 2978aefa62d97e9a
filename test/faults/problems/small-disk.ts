/** Makes a disk of a few megabytes, which a test can fill. */
import { execFileSync } from "node:child_process";
import { chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterThisTest } from "#harness/cleanup";
import { serverUser } from "#harness/postgres-cluster";
import { needs } from "#harness/processes/needs";

needs("tmpfs");

export interface SmallDisk {
  readonly folder: string;
  /** Fills the disk to the last block. */
  fill(): void;
  /** Deletes the file that `fill` has written. */
  free(): void;
}

/** Makes the disk. PostgreSQL may also write to the small disk. */
export function smallDisk(megabytes: number): SmallDisk {
  const mount = mkdtempSync(join(tmpdir(), "plaza-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", mount]);
  afterThisTest(() => {
    execFileSync("umount", ["--lazy", mount]);
    rmSync(mount, { recursive: true, force: true });
  });
  const user = serverUser();
  if (user !== undefined) chownSync(mount, user.uid, user.gid);
  const ballast = join(mount, "ballast");
  return {
    folder: mount,
    fill() {
      for (let bytes = 1 << 20; bytes >= 4096; ) {
        try {
          writeFileSync(ballast, Buffer.alloc(bytes), { flag: "a" });
        } catch (error) {
          if ((error as { code?: string }).code !== "ENOSPC") throw error;
          bytes /= 2;
        }
      }
    },
    free: () => rmSync(ballast, { force: true }),
  };
}
