/** The requests and the output of `plaza live`. */
import { expect, test } from "bun:test";
import { type Asked, controlStub } from "#harness/cli/control-stub";
import { printedBy, written } from "#harness/cli/printed";
import { playTestClip, stopTestClip } from "./live.ts";

const server = (state: string, embeddable: boolean) =>
  controlStub(({ path }: Asked) => {
    if (path === "/v1/server") return { base_url: "http://graph" };
    return path.includes("/nodes/") ? { id: "5301", embeddable } : { id: "5301", state };
  });
const askedOf = ({ asked }: ReturnType<typeof server>) => asked.map(({ method, path }) => `${method} ${path}`);
const VIDEO = "/v1/worlds/default/live-videos/5301";

test("an unpublished video is published, and the player's address is printed if it is open", async () => {
  const stub = server("unpublished", true);
  const streams = written();
  expect(await playTestClip("5301", { ...stub.given, world_name: "default" })).toBe(0);
  expect(askedOf(stub).slice(0, 2)).toEqual([`POST ${VIDEO}/test-encoder`, `POST ${VIDEO}/publish`]);
  expect(streams).toEqual({
    out: "the test clip plays in live video 5301, until the broadcast ends or you run: plaza live stop 5301\nwatch the video, in some seconds, at http://graph/player/5301\n",
    err: "",
  });
});

test("a preview is not published, and neither is a live video; a closed player is reported", async () => {
  const preview = server("scheduled_live", true);
  const streams = written();
  expect(await playTestClip("5301", { ...preview.given, world_name: "default", preview: true })).toBe(0);
  expect(askedOf(preview)).not.toContain(`POST ${VIDEO}/publish`);
  expect(streams.err).toBe("The clip is a preview, which nobody sees before the video is published.\n");
  Object.assign(streams, { out: "", err: "" });
  const live = server("live", false);
  expect(await playTestClip("5301", { ...live.given, world_name: "a" })).toBe(0);
  expect(askedOf(live)).not.toContain("POST /v1/worlds/a/live-videos/5301/publish");
  expect(streams.err).toBe("The video's player opens once the video is embeddable: http://graph/w/a/player/5301\n");
});

test("a refusal is one line; stopping prints the state of the video", async () => {
  const streams = written();
  const { given } = controlStub(() => Response.json({ error: { message: "an encoder sends already" } }, { status: 409 }));
  expect(await playTestClip("5301", { ...given, world_name: "default" })).toBe(1);
  expect(streams).toEqual({ out: "", err: "plaza: an encoder sends already\n" });
  const stub = server("reconnecting", true);
  expect(await stopTestClip("5301", { ...stub.given, world_name: "default" })).toBe(0);
  expect(askedOf(stub)).toEqual([`DELETE ${VIDEO}/test-encoder`]);
  expect(streams.out).toBe("the test clip no longer plays in live video 5301, which is reconnecting\n");
});

test("--json has the player, and what the server returns when the clip stops", async () => {
  const streams = written();
  const stub = server("live", true);
  expect(await playTestClip("5301", { ...stub.given, json: true })).toBe(0);
  expect(printedBy("live play", streams.out)).toEqual({ player: "http://graph/player/5301", embeddable: true });
  streams.out = "";
  expect(await stopTestClip("5301", { ...stub.given, json: true })).toBe(0);
  expect(streams).toEqual({ out: '{"id":"5301","state":"live"}\n', err: "" });
});
