import { describe, expect, test } from "bun:test";
import { pages } from "#features/pages";
import { personas } from "#features/personas";
import { type Evidence, fidelityPage, readEvidence } from "./fidelity-page.ts";

const real = readEvidence();
const features = [pages, personas];
const sectionOf = (text: string, operation: string): string => text.split(/^### /m).find((part) => part.startsWith(`${operation}\n`)) ?? "";
const pageWith = (changes: Partial<Evidence>): string => fidelityPage(features, { ...real, ...changes });

describe("the fidelity page", () => {
  test("an operation names its clauses with the cases that show them, and its decisions", () => {
    const section = sectionOf(pageWith({}), "listPersonas");
    expect(section).toContain("`GET /{page_id}/personas`");
    expect(section).toMatch(/\| A7-4 \| .*\| .*A7: fields works as in A1 \(\d+ ways\)<br>A7: nested fields hold what was asked for/);
    expect(section).toContain("[D-41 Personas](decisions/page-messaging.md#d-41-personas)");
  });

  test("a clause without a case gives the reason", () => {
    const cases = real.cases.filter(({ clauses }) => !clauses.includes("A7-4"));
    expect(sectionOf(pageWith({ cases }), "listPersonas")).toMatch(/\| A7-4 \|.*\| none: no case \|/);
    expect(sectionOf(pageWith({ cases, reasons: new Map([["A7-4", "another system's"]]) }), "listPersonas")).toMatch(
      /\| A7-4 \|.*\| none: another system's \|/,
    );
  });

  test("an operation that the document does not have is an intended difference, shown by the cases of its decisions", () => {
    const section = sectionOf(pageWith({}), "deletePersona");
    expect(section).toContain("intended difference: the document does not have this operation");
    expect(section).toContain("A7: a deleted persona is no longer listed");
  });

  test("a missing row, an unknown decision and an unknown clause are errors", () => {
    expect(() => pageWith({ leftOpen: new Map() })).toThrow("spec/left-open.md names no known decision for B1-6");
    expect(() => pageWith({ decisions: new Map() })).toThrow("names D-165, which spec/decisions does not have");
    expect(() => pageWith({ clauses: new Map([...real.clauses].filter(([id]) => id !== "A7-4")) })).toThrow("names the clause A7-4");
  });
});
