import { expect, test } from "bun:test";
import { Type } from "typebox";
import type { ControlRoute } from "#control-contract/route";
import { features } from "#features";
import { defineFeature } from "#graph/contract/feature";
import { Registry } from "#graph/contract/registry";
import { controlRoutes } from "./routes.ts";

const rename: ControlRoute = {
  method: "POST",
  path: "/v1/worlds/{w}/gift-cards/{id}/rename",
  operation: "renameGiftCard",
  summary: "Renames a gift card",
  response: Type.Object({}),
  handle: async () => ({}),
};
const routesWith = (...routes: ControlRoute[]) =>
  controlRoutes(new Registry([...features, defineFeature({ name: "gift-cards", migrations: [], controlRoutes: routes })]));

test("a feature's routes are part of the control API", () => {
  expect(routesWith(rename)).toContain(rename);
});

test("two routes with one address, or one operation name, keep the server from starting", () => {
  const elsewhere = { ...rename, path: "/v1/worlds/{w}/gift-cards/{id}/label" };
  expect(() => routesWith(rename, elsewhere)).toThrow("two routes of the control API have the operation renameGiftCard");
  const sameShape = { ...rename, operation: "renameCard", path: "/v1/worlds/{w}/gift-cards/{card}/rename" };
  expect(() => routesWith(rename, sameShape)).toThrow("two routes of the control API have the address POST /v1/worlds/{}/gift-cards/{}/rename");
  expect(routesWith(rename, { ...elsewhere, operation: "labelGiftCard" })).toHaveLength(controlRoutes(new Registry(features)).length + 2);
});
