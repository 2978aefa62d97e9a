/**
 * Makes large data sets for benches. Plaza creates its database and stops, this module writes the rows directly into the database file, and Plaza
 * starts again. A million nodes that are written directly into the database file take only seconds.
 */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { labels, PAGE, people, personas, world } from "./data.ts";
import { dataFolder, LABELS_UNLIMITED, type Server, startPlaza } from "./server.ts";

export interface Amounts {
  readonly labels?: number;
  readonly personas?: number;
  /** The number of people of the page. Each person has one label. */
  readonly people?: number;
}

export async function startFilledPlaza(amounts: Amounts): Promise<Server> {
  const empty = await startPlaza({ world: world(), settings: LABELS_UNLIMITED });
  await empty.stop({ keepFolder: true });
  fill(join(dataFolder(empty.folder), "default.sqlite"), amounts);
  return startPlaza({ folder: empty.folder, settings: LABELS_UNLIMITED });
}

/** Writes the same rows as the features' stores, into the tables that the features' migrations created. */
function fill(file: string, amounts: Amounts): void {
  const database = new Database(file, { readwrite: true, create: false });
  database.run("PRAGMA synchronous = OFF");
  const node = database.prepare("INSERT INTO nodes (id, type, owner) VALUES (?, ?, ?)");
  const label = database.prepare("INSERT INTO labels (page, id, name) VALUES (?, ?, ?)");
  const labelName = database.prepare("INSERT INTO label_names (page, name_folded, label, name) VALUES (?, ?, ?, ?)");
  const persona = database.prepare("INSERT INTO personas (page, id, name, profile_picture_url) VALUES (?, ?, ?, ?)");
  const person = database.prepare("INSERT INTO page_people (page, psid, name) VALUES (?, ?, ?)");
  const attached = database.prepare("INSERT INTO label_users (page, label, psid) VALUES (?, ?, ?)");
  database.transaction(() => {
    for (const { id, page, name } of labels(amounts.labels ?? 0)) {
      node.run(id, "label", page);
      label.run(page, id, name);
      labelName.run(page, name, id, name);
    }
    database.run("INSERT INTO label_counts (page, labels) VALUES (?, ?)", [PAGE, amounts.labels ?? 0]);
    for (const { id, page, name, profile_picture_url } of personas(amounts.personas ?? 0)) {
      node.run(id, "persona", page);
      persona.run(page, id, name, profile_picture_url);
    }
    for (const { psid, page, name, label: attachedLabel } of people(amounts.people ?? 0)) {
      node.run(psid, "page_person", page);
      person.run(page, psid, name);
      attached.run(page, attachedLabel, psid);
    }
  })();
  for (const statement of [node, label, labelName, persona, person, attached]) statement.finalize();
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
}
