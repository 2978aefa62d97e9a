import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { addressOf, expectBounds, textOf } from "#harness/schemas/bounds";
import { changeEntry, findEntry, insertEntry } from "#harness/sections";
import { cafe } from "#harness/worlds";
import { personaSection } from "./personas.world.ts";

test("D-41: a persona of a world file has a name of 1 to 50 characters, and an address that browsers accept", () => {
  expectBounds(
    personaSection.entry,
    { id: "5109", page: "2001" },
    {
      name: { right: ["x", textOf(50)], wrong: ["", textOf(51)] },
      profile_picture_url: { right: [addressOf(2_048)], wrong: [addressOf(2_049), textOf(9)] },
    },
  );
});

onEachDatabase("a persona of a world file", (database) => {
  test("D-41: is read like one that a page creates, and stays with its page", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    const entry = { id: "5109", page: "2001", name: " Ann " };
    await expect(insertEntry(plaza, "personas", { ...entry, name: "  " })).rejects.toThrow("must not be empty");
    await expect(insertEntry(plaza, "personas", { ...entry, profile_picture_url: "ftp://a.example" })).rejects.toThrow(
      "must be an http or https address",
    );
    expect(await insertEntry(plaza, "personas", entry)).toBe(true);
    const stored = { id: "5109", page: "2001", name: "Ann", profile_picture_url: "https://example.com/persona.png" };
    expect(await findEntry(plaza, "personas", "5109")).toEqual(stored);
    await expect(changeEntry(plaza, "personas", "5109", { page: "2002" })).rejects.toThrow("cannot change");
    expect(await findEntry(plaza, "personas", "5109")).toEqual(stored);
    // The id of a node of another type is not accepted as the id of a persona.
    expect(await findEntry(plaza, "personas", "2001")).toBeUndefined();
  });
});
