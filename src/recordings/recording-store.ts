/**
 * The store of recordings: a folder, or a bucket of an object store with the protocol S3 (D-422). The path of an object is
 * `{world}/{video}/{session}/{name}`; no part of the path contains a slash.
 */

import { appendFile, mkdir, readdir, readFile, rename, rm, stat, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { file, S3Client } from "bun";

export interface RecordingStore {
  /** Writes an object so that a reader sees either the complete object or no object. */
  write(path: string, bytes: Uint8Array): Promise<void>;
  /** Adds text to the end of an object. The parameter `whole` is the whole text of the object, including the added text. */
  append(path: string, added: string, whole: string): Promise<void>;
  /** Returns the text of an object, or an empty text if the object does not exist. */
  readText(path: string): Promise<string>;
  /** Returns the number of bytes of an object, or 0 if the object does not exist. */
  sizeOf(path: string): Promise<number>;
  /** Returns the names of the folders directly in a folder. The list of names is empty if the folder does not exist. */
  folders(path: string): Promise<string[]>;
  /** Returns the content of an object, or undefined if the object does not exist. */
  open(path: string): Promise<{ readonly content: ReadableStream<Uint8Array>; readonly size: number } | undefined>;
  /** Makes a folder. A caller must make a folder before it writes an object into the folder. */
  makeFolder(path: string): Promise<void>;
  /** Removes a folder with its content. */
  remove(path: string): Promise<void>;
  usedBytes(): Promise<number>;
  /** Returns the number of free bytes, or infinity if the store does not report this number. */
  freeBytes(): Promise<number>;
}

/** The permissions with which a recording's file is created. A recording may be private, so only the user who runs the server may read it. */
const OWN = { mode: 0o600 };

class FolderStore implements RecordingStore {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    const whole = join(this.#root, path);
    await writeFile(`${whole}.part`, bytes, OWN);
    await rename(`${whole}.part`, whole);
  }

  async append(path: string, added: string): Promise<void> {
    await appendFile(join(this.#root, path), added, OWN);
  }

  readText(path: string): Promise<string> {
    return readFile(join(this.#root, path), "utf8").catch(nothing(""));
  }

  async sizeOf(path: string): Promise<number> {
    return (await stat(join(this.#root, path)).catch(nothing({ size: 0 }))).size;
  }

  folders(path: string): Promise<string[]> {
    return readdir(join(this.#root, path)).catch(nothing<string[]>([]));
  }

  async open(path: string): ReturnType<RecordingStore["open"]> {
    const found = file(join(this.#root, path));
    return (await found.exists()) ? { content: found.stream(), size: found.size } : undefined;
  }

  async makeFolder(path: string): Promise<void> {
    await mkdir(join(this.#root, path), { recursive: true, mode: 0o700 });
  }

  async remove(path: string): Promise<void> {
    const folder = join(this.#root, path);
    // Checking whether a world's folder exists takes a tenth of the time that removing a missing folder takes, and most worlds have no recordings.
    if ((await stat(folder).catch(nothing(undefined))) !== undefined) await rm(folder, { recursive: true, force: true });
  }

  async usedBytes(): Promise<number> {
    let sum = 0;
    for (const name of await readdir(this.#root, { recursive: true })) {
      // Another process may delete a recording during the count, so a missing file is skipped.
      const found = await stat(join(this.#root, name)).catch(() => undefined);
      if (found?.isFile() === true) sum += found.size;
    }
    return sum;
  }

  async freeBytes(): Promise<number> {
    const { bavail, bsize } = await statfs(this.#root);
    return bavail * bsize;
  }
}

/** Makes an error handler that returns `empty` if a file or folder does not exist. The handler throws all other errors of the disk again. */
const nothing =
  <T>(empty: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code === "ENOENT") return empty;
    throw error;
  };

/** The maximum number of objects in one response to a list request, which is S3's own limit. */
const LISTED_MAX = 1_000;
/** The number of objects that are deleted concurrently. */
const DELETED_AT_ONCE = 16;

const isMissing = (error: unknown): boolean => error instanceof Error && "code" in error && (error.code === "NoSuchKey" || error.code === "NotFound");

/** Stores recordings in a bucket. An object is either complete or missing, so a killed server leaves only complete segments, as in a folder. */
class BucketStore implements RecordingStore {
  readonly #client: S3Client;
  readonly #prefix: string;

  /**
   * `address` is `s3://key:secret@bucket/prefix?endpoint=https://…&region=…`. If the key, secret, endpoint or region is left out, the runtime reads
   * the missing value from the environment, as other programs do (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, S3_ENDPOINT).
   */
  constructor(address: string) {
    const { username, password, hostname, pathname, searchParams } = new URL(address);
    const [endpoint, region] = [searchParams.get("endpoint"), searchParams.get("region")];
    this.#client = new S3Client({
      bucket: hostname,
      ...(username !== "" && { accessKeyId: decodeURIComponent(username), secretAccessKey: decodeURIComponent(password) }),
      ...(endpoint !== null && { endpoint }),
      ...(region !== null && { region }),
    });
    const path = decodeURIComponent(pathname.slice(1));
    this.#prefix = path === "" || path.endsWith("/") ? path : `${path}/`;
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    await this.#client.write(this.#prefix + path, bytes);
  }

  async append(path: string, _added: string, whole: string): Promise<void> {
    await this.#client.write(this.#prefix + path, whole);
  }

  async readText(path: string): Promise<string> {
    try {
      return await this.#client.file(this.#prefix + path).text();
    } catch (error) {
      if (isMissing(error)) return "";
      throw error;
    }
  }

  async sizeOf(path: string): Promise<number> {
    try {
      return await this.#client.size(this.#prefix + path);
    } catch (error) {
      if (isMissing(error)) return 0;
      throw error;
    }
  }

  async folders(path: string): Promise<string[]> {
    const folder = `${this.#prefix}${path}/`;
    const found: string[] = [];
    let continuationToken: string | undefined;
    do {
      const page = await this.#client.list({ prefix: folder, delimiter: "/", maxKeys: LISTED_MAX, ...(continuationToken && { continuationToken }) });
      found.push(...(page.commonPrefixes ?? []).map(({ prefix }) => prefix.slice(folder.length, -1)));
      continuationToken = page.nextContinuationToken;
    } while (continuationToken !== undefined);
    return found;
  }

  async open(path: string): ReturnType<RecordingStore["open"]> {
    try {
      // The whole segment is read, because a segment has some megabytes at most, and only the response shows whether a segment is missing.
      const bytes = await this.#client.file(this.#prefix + path).bytes();
      return { content: new Blob([bytes]).stream(), size: bytes.length };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  async makeFolder(): Promise<void> {}

  async remove(path: string): Promise<void> {
    for await (const keys of this.#pages(`${path}/`)) {
      const left = keys.values();
      const deleteNext = async (): Promise<void> => {
        for (const { key } of left) await this.#client.delete(key);
      };
      await Promise.all(Array.from({ length: DELETED_AT_ONCE }, deleteNext));
    }
  }

  async usedBytes(): Promise<number> {
    let sum = 0;
    for await (const page of this.#pages("")) for (const { size } of page) sum += size;
    return sum;
  }

  async freeBytes(): Promise<number> {
    return Number.POSITIVE_INFINITY;
  }

  /** Yields the objects whose paths begin with `path`, up to a thousand at a time. */
  async *#pages(path: string): AsyncGenerator<readonly { readonly key: string; readonly size: number }[]> {
    let after: string | undefined;
    for (;;) {
      const { contents = [], isTruncated } = await this.#client.list({
        ...{ prefix: this.#prefix + path, maxKeys: LISTED_MAX },
        ...(after !== undefined && { startAfter: after }),
      });
      yield contents.map(({ key, size = 0 }) => ({ key, size }));
      after = contents.at(-1)?.key;
      if (isTruncated !== true || after === undefined) return;
    }
  }
}

export const isBucket = (root: string): boolean => root.startsWith("s3://");

const stores = new Map<string, RecordingStore>();

/** Returns the store at `root`, which is the path of a folder or the address of a bucket. */
export function storeAt(root: string): RecordingStore {
  const known = stores.get(root);
  if (known !== undefined) return known;
  const store = isBucket(root) ? new BucketStore(root) : new FolderStore(root);
  stores.set(root, store);
  return store;
}
