import { test } from "bun:test";
import { expectBounds } from "#harness/schemas/bounds";
import { placeSection } from "./places.world.ts";

test("a place is on the globe: at most at a pole or on the date line", () => {
  const at = (latitude: number, longitude: number) => ({ latitude, longitude });
  expectBounds(
    placeSection.entry,
    { id: "9901" },
    { location: { right: [at(90, 180), at(-90, -180)], wrong: [at(90.001, 0), at(-90.001, 0), at(0, 180.001), at(0, -180.001)] } },
  );
});
