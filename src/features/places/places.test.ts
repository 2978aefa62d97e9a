import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { expectUnreadable, openPlaza } from "#harness/plaza";
import { expectLifeOfEntry } from "#harness/sections";
import { cafe } from "#harness/worlds";

onEachDatabase("places", (database) => {
  test("a place is created, moved and removed by a world file entry", async () => {
    const entry = { id: "9901", name: "Terrace 😀", location: { latitude: 52.5, longitude: -13.4 } };
    await expectLifeOfEntry(await openPlaza({ database }), "places", entry, { name: "", location: { latitude: 0, longitude: 180 } });
  });

  test("a place beyond the pole is refused", async () => {
    const world = { places: [{ id: "9901", location: { latitude: 90.5, longitude: 0 } }] };
    expect(openPlaza({ database, world })).rejects.toThrow("places[0].location.latitude");
  });

  test("D-21: a place cannot be read by id", async () => {
    await expectUnreadable(await openPlaza({ database, world: { ...cafe, places: [{ id: "9901" }] } }), "9901", "ada");
  });
});
