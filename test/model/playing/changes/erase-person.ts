/** Erases a person of a page (D-172), in the server and in the model. */
import { pageOfPerson } from "../../reference/world.ts";
import type { Scene, Stage } from "../scene.ts";

/** The time limit of the erasure job, also on a busy machine. */
const ERASED_WITHIN_MS = 20_000;

interface Erasure {
  readonly id: string;
  readonly status: "running" | "done";
  readonly erased: Readonly<Record<string, number>>;
}

export async function erasePerson({ servers }: Stage, scene: Scene, psid: string): Promise<string | undefined> {
  const { world, place } = scene;
  const page = pageOfPerson(world, psid);
  if (page === undefined) return undefined;
  const begun = await servers.control("DELETE", `worlds/${place}/people/${psid}`);
  if (begun.status !== 200) return `the erasure is refused: ${JSON.stringify(begun.body)}`;
  let erasure = begun.body as Erasure;
  for (const endMs = performance.now() + ERASED_WITHIN_MS; erasure.status === "running" && performance.now() < endMs; await Bun.sleep(10))
    erasure = (await servers.control("GET", `worlds/${place}/erasures/${erasure.id}`)).body as Erasure;
  // Any process may have run the erasure, so the other processes may not know of the change yet.
  await servers.seeFacts();
  page.people = page.people.filter((person) => person.psid !== psid);
  for (const label of world.labels.values()) label.users.delete(psid);
  if (erasure.erased.people !== 1) return `the erasure is ${JSON.stringify(erasure)}`;
  const { body } = await servers.control("GET", `worlds/${place}/snapshots`);
  const { data: kept } = body as { readonly data: readonly { readonly name: string }[] };
  if (kept.length > 0) return `after an erasure there are the snapshots ${JSON.stringify(kept)}`;
  delete scene.kept;
  scene.isUsual = false;
  world.reach("personErased");
  return undefined;
}
