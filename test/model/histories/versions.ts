/**
 * Draws histories about the calendar of versions. These histories begin shortly before a version is released or ends, or before a migration's window
 * opens or closes.
 */
import fc, { type Arbitrary } from "fast-check";
import type { VersionsEntry } from "../reference/world.ts";
import { catalogSteps } from "./catalogs.ts";
import { oneOf, world } from "./drawing.ts";
import { nodeSteps } from "./nodes.ts";
import { labelSteps } from "./page-messaging.ts";
import type { History, Step } from "./steps.ts";

const day = (text: string): number => Date.parse(`${text}T00:00:00Z`) / 1000;

/** The days of the calendar at which something changes, from D-80 and D-122. */
const BORDERS = ["2026-02-10", "2026-02-18", "2026-06-09", "2026-10-01", "2026-10-06", "2027-10-01"].map(day);

/** A calendar whose versions change some endpoints, and in which the built-in migration has another window. */
const OTHER: VersionsEntry = {
  marketing: [
    { version: "23.0", released: day("2025-05-29"), until: day("2026-06-09"), affects: [] },
    { version: "24.0", released: day("2025-10-08"), until: day("2026-10-06"), affects: ["owned_product_catalogs"] },
    { version: "25.0", released: day("2026-02-18"), until: day("2027-03-01"), affects: ["G2", "createFeed"] },
    { version: "26.0", released: day("2026-09-01"), affects: ["G1"] },
  ],
  migrations: [
    { name: "label_names_case_insensitive", start: day("2026-09-01"), end: day("2026-12-01") },
    { name: "another", start: day("2026-06-09"), end: day("2026-10-06") },
  ],
};
const OTHER_BORDERS = ["2026-06-09", "2026-09-01", "2026-10-06", "2026-12-01", "2027-03-01"].map(day);

const before = fc.constantFrom(1, 60, 3_600, 40_000);
const beginning = (borders: readonly number[]): Arbitrary<number> =>
  fc.tuple(fc.constantFrom(...borders), before).map(([border, seconds]) => border - seconds);

/** The time at which a history about versions begins, with its calendar. */
export const beginnings: Arbitrary<Pick<History, "begins" | "versions">> = oneOf<Pick<History, "begins" | "versions">>(
  [1, beginning(BORDERS).map((begins) => ({ begins }))],
  [1, beginning(OTHER_BORDERS).map((begins) => ({ begins, versions: OTHER }))],
);

export const versionSteps: Arbitrary<Step> = oneOf<Step>(
  [6, catalogSteps],
  [3, labelSteps],
  [4, nodeSteps],
  [2, fc.record({ kind: fc.constant("advance" as const), world, seconds: fc.constantFrom(1, 60, 3_600, 40_000) })],
);
