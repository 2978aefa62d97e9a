/** Checks that each statement about a node also names the owner of the node: with another owner, the statement finds and changes nothing. */
import { expect, test } from "bun:test";
import { openPlaza } from "#harness/plaza";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { isSubscribed, numberTable } from "../../src/features/chatapp-accounts/chatapp-accounts.store.ts";
import {
  deleteLabel,
  detachAll,
  detachLabel,
  findLabel,
  listUsersOfLabel,
  renameLabel,
} from "../../src/features/custom-labels/custom-labels.store.ts";
import { deleteComment, deleteReaction, findComment, findReaction, updateComment } from "../../src/features/live-videos/audience/audience.store.ts";
import * as microblog from "../../src/features/microblog-insights/microblog-insights.store.ts";
import { intentTable } from "../../src/features/migration-intents/migration-intents.store.ts";
import { findRole, hasPerson, renamePerson } from "../../src/features/pages/pages.store.ts";
import { personaTable } from "../../src/features/personas/personas.store.ts";
import { actionTable } from "../../src/features/required-actions/required-actions.store.ts";
import * as tagged from "../../src/features/tagged-media/tagged-media.store.ts";
import { findOverride } from "../../src/features/webhook-overrides/webhook-overrides.store.ts";
import { scrambled } from "./scrambled-world.ts";

interface Kept {
  readonly owner: string;
  readonly id: string;
  readonly other: string;
  find(reader: Reader, owner: NodeId, id: string): Promise<unknown>;
  remove(tx: Transaction, owner: NodeId, id: string): Promise<boolean>;
  /** The promise rejects if the statement changes no row. */
  update?(tx: Transaction, owner: NodeId, id: string): Promise<unknown>;
}

const persona = { name: "Al", profile_picture_url: "https://example.com/al.png" };

const kinds: Readonly<Record<string, Kept>> = {
  personas: {
    owner: "2002",
    id: "5101",
    other: "20001",
    find: personaTable.find,
    remove: personaTable.remove,
    update: (tx, page, id) => personaTable.replace(tx, { ...persona, page, id }),
  },
  labels: { owner: "2002", id: "5002", other: "20001", find: findLabel, remove: deleteLabel },
  required_actions: { owner: "1002", id: "5201", other: "10001", find: actionTable.find, remove: actionTable.remove },
  migration_intents: { owner: "4001", id: "4301", other: "4002", find: intentTable.find, remove: intentTable.remove },
  phone_numbers: {
    ...{ owner: "4002", id: "4101", other: "40001", find: numberTable.find, remove: numberTable.remove },
    update: (tx, account, id) => numberTable.replace(tx, { account, id, display_phone_number: "1", verified_name: "x" }),
  },
  microblog_media: {
    ...{ owner: "7002", id: "7101", other: "70001", find: microblog.mediaTable.find, remove: microblog.deleteMedia },
    update: (tx, owner, id) => microblog.mediaTable.replace(tx, { owner, id, text: "x", timestamp: 1 }),
  },
  media: { owner: "6002", id: "6102", other: "60001", find: tagged.mediaTable.find, remove: tagged.deleteMedia },
};

for (const [kind, { owner, id, other, find, remove, update }] of Object.entries(kinds)) {
  test(`${kind}: found, changed and removed only with its owner`, async () => {
    const { database } = (await openPlaza({ world: scrambled })).world;
    const [own, wrong] = [nodeId(owner), nodeId(other)];
    const before = await find(database.reader, own, id);
    if (before === undefined) throw new Error("the node is missing");
    expect([await find(database.reader, wrong, id), await find(database.reader, own, "99")]).toEqual([undefined, undefined]);
    expect(await database.write((tx) => remove(tx, wrong, id))).toBe(false);
    if (update !== undefined)
      await expect(database.write((tx) => update(tx, wrong, id))).rejects.toThrow("a statement changed 0 rows instead of one");
    expect(await find(database.reader, own, id)).toEqual(before as never);
    expect(await database.write((tx) => remove(tx, own, id))).toBe(true);
    expect(await find(database.reader, own, id)).toBeUndefined();
  });
}

test("rows that belong to two or three nodes are found and changed with all of them", async () => {
  const { database } = (await openPlaza({ world: scrambled })).world;
  const { reader } = database;
  const ids = (...texts: string[]) => texts.map(nodeId);
  const [page, otherPage, label, account, app] = ids("2002", "20001", "5002", "4002", "1002") as [NodeId, NodeId, NodeId, NodeId, NodeId];
  const users = () => listUsersOfLabel(reader, label);
  const everybody = await users();
  expect(everybody).toHaveLength(3);
  for (const [of, one, psid] of [
    [otherPage, label, "9001"],
    [page, "5001", "9001"],
    [page, label, "9003"],
  ] as const)
    expect(await database.write((tx) => detachLabel(tx, of, one, psid))).toBe(false);
  expect(await database.write((tx) => renameLabel(tx, otherPage, label, "x"))).toBe(false);
  expect(await database.write((tx) => renameLabel(tx, page, label, "renamed"))).toBe(true);
  expect(await findLabel(reader, page, label)).toMatchObject({ name: "renamed" });
  await database.write((tx) => detachAll(tx, otherPage, "9001"));
  expect(await users()).toEqual(everybody);
  await database.write((tx) => detachAll(tx, page, "9001"));
  expect(await users()).toEqual(everybody.filter((psid) => psid !== "9001"));

  const asked = [
    hasPerson(reader, page, nodeId("9002")),
    hasPerson(reader, otherPage, nodeId("9002")),
    isSubscribed(reader, account, app),
    isSubscribed(reader, nodeId("4001"), app),
  ];
  expect(await Promise.all(asked)).toEqual([true, false, true, false]);
  await expect(database.write((tx) => renamePerson(tx, otherPage, "9002", "x"))).rejects.toThrow("a statement changed 0 rows instead of one");
  expect([(await findRole(reader, page, nodeId("3001")))?.user, await findRole(reader, otherPage, nodeId("3001"))]).toEqual(["3001", undefined]);

  const number = nodeId("4102");
  expect(await findOverride(reader, account, app, number)).toBe("https://receiver.example/phone");
  const overrides = [
    findOverride(reader, nodeId("4001"), app, number),
    findOverride(reader, account, nodeId("1003"), number),
    findOverride(reader, account, app, undefined),
  ];
  expect(await Promise.all(overrides)).toEqual([undefined, undefined, undefined]);
});

test("comments on a live video are found and changed with its page and its video", async () => {
  const { database } = (await openPlaza({ world: scrambled })).world;
  const { reader } = database;
  const [page, otherPage, video] = [nodeId("2002"), nodeId("20001"), nodeId("5302")];
  const comment = await findComment(reader, page, video, "5402");
  if (comment === undefined) throw new Error("the comment is missing");
  expect([await findComment(reader, otherPage, video, "5402"), await findComment(reader, page, nodeId("5301"), "5402")]).toEqual([
    undefined,
    undefined,
  ]);
  for (const wrong of [
    { ...comment, page: otherPage },
    { ...comment, video: "5301" },
  ]) {
    await expect(database.write((tx) => updateComment(tx, wrong))).rejects.toThrow("a statement changed 0 rows instead of one");
    // Deleting a comment also deletes its node, so the test checks the statement inside a transaction and then undoes the transaction.
    await expect(
      database.write(async (tx) => {
        await deleteComment(tx, wrong);
        expect(await findComment(tx, page, video, "5402")).toEqual(comment);
        throw new Error("undone");
      }),
    ).rejects.toThrow("undone");
  }
  const reaction = await findReaction(reader, page, video, "3002");
  if (reaction === undefined) throw new Error("the reaction is missing");
  for (const wrong of [
    { ...reaction, page: otherPage },
    { ...reaction, video: "5301", actor: "3001" },
  ])
    await database.write((tx) => deleteReaction(tx, wrong));
  expect([await findReaction(reader, page, video, "3002"), await findReaction(reader, otherPage, video, "3002")]).toEqual([reaction, undefined]);
});
