import { describe, expect, test } from "bun:test";
import { labelsOf, openControl } from "#harness/control";
import { onEachDatabase, type TestPlaza } from "#harness/plaza";

onEachDatabase("the clock", (database) => {
  test("is set, stopped and moved on; two moves at once add up", async () => {
    const { request, plaza } = await openControl({ database });
    expect((await request("PUT", "clock", { now: "2026-11-01T10:00:00+0000", frozen: true })).body).toEqual({ now: 1_793_527_200, frozen: true });
    plaza.time.realMs += 5_000;
    expect((await request("GET", "clock")).body.now).toBe(1_793_527_200);
    await Promise.all([request("POST", "clock/advance", { seconds: 10 }), request("POST", "clock/advance", { seconds: 20 })]);
    expect((await request("PUT", "clock", { frozen: false })).body).toEqual({ now: 1_793_527_230, frozen: false });
    plaza.time.realMs += 5_000;
    expect((await request("GET", "clock")).body.now).toBe(1_793_527_235);
  });
});

describe("when the clock is moved", () => {
  test("everything that falls due has happened before the response is sent", async () => {
    const happened: number[] = [];
    const settle = async ({ clock }: TestPlaza["world"]) => {
      await Promise.resolve();
      happened.push(clock.nowMs());
    };
    const { request } = await openControl({}, { onTimeMoved: [settle] });
    await request("PUT", "clock", { now: 1_795_000_000, frozen: true });
    await request("POST", "clock/advance", { seconds: 0.5 });
    expect(happened).toEqual([1_795_000_000_000, 1_795_000_000_500]);
  });

  test("a token expires with it", async () => {
    const { request, plaza } = await openControl();
    const now = (await request("PUT", "clock", { frozen: true })).body.now;
    const { token } = (
      await request("POST", "tokens", { type: "page", app: "1001", page: "2001", scopes: ["pages_messaging"], expires_at: now + 60 })
    ).body;
    await request("POST", "clock/advance", { seconds: 59 });
    expect((await labelsOf(plaza, token)).status).toBe(200);
    await request("POST", "clock/advance", { seconds: 1 });
    expect((await labelsOf(plaza, token)).body.error_subcode).toBe(463);
  });
});
