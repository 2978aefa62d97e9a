/** The port `override_store`. An override belongs to an app and an account, or to an app and one of its numbers (D-57). */
import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";

/** `number` undefined: the account's own override. */
interface OverridePort {
  find(reader: Reader, account: NodeId, app: NodeId, number: NodeId | undefined): Promise<string | undefined>;
  /** For each of the apps on its account that account's override. */
  ofApps(reader: Reader, apps: readonly { readonly account: string; readonly app: string }[]): Promise<readonly (string | undefined)[]>;
  /** For each of the numbers the app's override of it and of its account. */
  ofNumbers(
    reader: Reader,
    app: NodeId,
    numbers: readonly { readonly account: string; readonly id: string }[],
  ): Promise<readonly { readonly phone_number: string | undefined; readonly account: string | undefined }[]>;
  listOfNumber(reader: Reader, account: NodeId, number: NodeId): Promise<readonly { app: NodeId; override_callback_uri: string }[]>;
}

interface OverrideWritesPort {
  /** Stores an address that is already verified. */
  save(tx: Transaction, account: NodeId, app: NodeId, number: NodeId | undefined, uri: string): Promise<void>;
  remove(tx: Transaction, account: NodeId, app: NodeId, number: NodeId | undefined): Promise<void>;
  /** Removes every override of the app on the account and its numbers. */
  removeAll(tx: Transaction, account: NodeId, app: NodeId): Promise<void>;
}

declare module "#kernel/ports" {
  interface Ports {
    account_override: OverridePort;
    account_override_writes: OverrideWritesPort;
  }
}
