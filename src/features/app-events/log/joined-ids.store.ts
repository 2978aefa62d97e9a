/**
 * Stores the ids of each device, and whether the device has installed the app (I1-30). Two ids belong to one device if an accepted request of the app
 * names both ids (D-290).
 *
 * An id gets a row when a request names the id together with another id, or when a request reports an install. Retention does not delete the ids of
 * devices, because an install of a device counts only once, even after years. The erasure of a person deletes the rows of the person's devices.
 */
import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type Row, type SqlValue, sql } from "#storage/sql";
import { DEVICE_IDS_MAX } from "../app-events.limits.ts";
import { allInList, inLists, insertRows } from "./rows.store.ts";

/** A device in memory while a batch is being stored. */
interface Device {
  /** The number of the device, which is unique in the app; undefined until the device is stored. */
  number: number | undefined;
  /** The number of ids that the device has. */
  size: number;
  isInstalled: boolean;
  /** Whether the table already says that the device has installed the app. */
  readonly wasInstalled: boolean;
  /** The device to which this device was joined; undefined if this device was not joined to another device. */
  partOf: Device | undefined;
}

interface JoinedId extends Row {
  identity: string;
  device: number;
  installed: number;
  size: number;
}

/** Joins ids to devices in memory, and stores the devices. The caller must hold the app's lock. */
export class JoinedIds {
  readonly #tx: Transaction;
  readonly #app: NodeId;
  readonly #devices = new Map<string, Device>();
  /** The devices that the table already contains. */
  readonly #stored: readonly Device[];
  readonly #storedIds: ReadonlySet<string>;

  private constructor(tx: Transaction, app: NodeId, rows: readonly JoinedId[]) {
    this.#tx = tx;
    this.#app = app;
    const stored = new Map<number, Device>();
    for (const { identity, device: number, installed, size } of rows) {
      const isInstalled = installed === 1;
      const device = stored.get(number) ?? { number, size, isInstalled, wasInstalled: isInstalled, partOf: undefined };
      stored.set(number, device);
      this.#devices.set(identity, device);
    }
    this.#stored = [...stored.values()];
    this.#storedIds = new Set(this.#devices.keys());
  }

  /** Reads the devices of a batch. `ids` must include all ids that will be passed to `join` or `install`. */
  static async open(tx: Transaction, app: NodeId, ids: readonly string[]): Promise<JoinedIds> {
    const known = sql`
      SELECT i.identity, i.device, i.installed,
        (SELECT COUNT(*) FROM app_device_ids o WHERE o.app = i.app AND o.device = i.device) AS size
      FROM app_device_ids i WHERE i.app = ${app} AND i.identity`;
    return new JoinedIds(tx, app, await allInList<JoinedId>(tx, known, [...new Set(ids)]));
  }

  /** Joins the given ids to one device. If the resulting device would have more than `DEVICE_IDS_MAX` ids, the ids are not joined. */
  join(ids: readonly string[]): void {
    const devices = [...new Set(ids.map((id) => this.#deviceOf(id)))].sort((one, other) => other.size - one.size);
    const [largest, ...others] = devices;
    if (largest === undefined || devices.reduce((sum, { size }) => sum + size, 0) > DEVICE_IDS_MAX) return;
    for (const other of others) {
      other.partOf = largest;
      largest.size += other.size;
      largest.isInstalled ||= other.isInstalled;
    }
  }

  /** Records that the device with these ids has installed the app. Returns false if an install of the device was recorded before. */
  install(ids: readonly string[]): boolean {
    const devices = ids.map((id) => this.#deviceOf(id));
    const isKnown = devices.some(({ isInstalled }) => isInstalled);
    for (const device of devices) device.isInstalled = true;
    return !isKnown;
  }

  #deviceOf(id: string): Device {
    let device = this.#devices.get(id);
    if (device === undefined) {
      device = { number: undefined, size: 1, isInstalled: false, wasInstalled: false, partOf: undefined };
      this.#devices.set(id, device);
    }
    return wholeOf(device);
  }

  async store(): Promise<void> {
    const added: SqlValue[] = [];
    let last: number | undefined;
    for (const [id, part] of this.#devices) {
      const device = wholeOf(part);
      if (this.#storedIds.has(id) || (device.size === 1 && !device.isInstalled)) continue;
      if (device.number === undefined) {
        last = (last ?? (await lastDeviceOf(this.#tx, this.#app))) + 1;
        device.number = last;
      }
      added.push(this.#app, id, device.number, device.isInstalled ? 1 : 0);
    }
    await Promise.all(this.#stored.map((device) => this.#update(device)));
    await insertRows(this.#tx, sql`INSERT INTO app_device_ids (app, identity, device, installed)`, 4, added);
  }

  async #update(device: Device): Promise<void> {
    const { number = null, isInstalled } = wholeOf(device);
    if (number === device.number && isInstalled === device.wasInstalled) return;
    await this.#tx.run(sql`
      UPDATE app_device_ids SET device = ${number}, installed = ${isInstalled ? 1 : 0} WHERE app = ${this.#app} AND device = ${device.number ?? null}`);
  }
}

function wholeOf(device: Device): Device {
  let whole = device;
  while (whole.partOf !== undefined) whole = whole.partOf;
  return whole;
}

async function lastDeviceOf(reader: Reader, app: NodeId): Promise<number> {
  const last = await reader.get<{ device: number }>(sql`SELECT i.device FROM app_device_ids i WHERE i.app = ${app} ORDER BY i.device DESC LIMIT 1`);
  return last?.device ?? 0;
}

/** Returns all ids of the devices that have at least one of the given ids. A given id without a row in the table is not returned. */
export async function findJoinedIds(reader: Reader, app: NodeId, ids: readonly string[]): Promise<string[]> {
  const joined = sql`
    SELECT o.identity FROM app_device_ids i JOIN app_device_ids o ON o.app = i.app AND o.device = i.device WHERE i.app = ${app} AND i.identity`;
  return (await allInList<{ identity: string }>(reader, joined, ids)).map(({ identity }) => identity);
}

/** Deletes the ids of a person's devices, for all apps. Returns the number of deleted rows. */
export async function deleteJoinedIds(tx: Transaction, ids: readonly string[]): Promise<number> {
  let deleted = 0;
  for (const statement of inLists(sql`DELETE FROM app_device_ids WHERE identity`, ids)) deleted += await tx.run(statement);
  return deleted;
}
