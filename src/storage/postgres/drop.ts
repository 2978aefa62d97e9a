/** Deletes the schema of a world that nothing has open. */
import { translated } from "./failures.ts";
import { Server } from "./server.ts";

export async function dropPostgres(url: string, schema: string): Promise<void> {
  try {
    const client = await new Server(url, schema).connect();
    try {
      await client.query(`BEGIN READ WRITE; DROP SCHEMA IF EXISTS "${schema}" CASCADE; COMMIT`);
    } finally {
      await client.end().catch(() => {});
    }
  } catch (error) {
    throw translated(error);
  }
}
