import { test } from "bun:test";
import { expectBounds, textOf } from "#harness/schemas/bounds";
import { catalogTasks } from "./product-catalogs.api.ts";
import { catalogSection } from "./product-catalogs.world.ts";

test("D-56: a catalog of a world file is like one that a page creates: its name, the partner's id, and an agency's tasks", () => {
  const agencyWith = (permitted_tasks: readonly string[]) => [{ business: "3502", permitted_tasks }];
  expectBounds(
    catalogSection.entry,
    { id: "8001", page: "2001" },
    {
      name: { right: ["", textOf(200)], wrong: [textOf(201)] },
      external_business_id: { right: ["", textOf(255)], wrong: [textOf(256)] },
      agencies: { right: [[], agencyWith(catalogTasks.slice(0, 1))], wrong: [agencyWith([]), agencyWith(["1"])] },
    },
  );
});
