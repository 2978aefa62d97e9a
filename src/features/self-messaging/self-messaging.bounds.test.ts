import { test } from "bun:test";
import type { TSchema } from "typebox";
import { expectBounds, textOf } from "#harness/schemas/bounds";
import { sendSelfMessage } from "./self-messaging.contract.ts";
import { selfMessagingControlRoutes } from "./self-messaging.control.ts";

const bodyOf = (operation: string) => selfMessagingControlRoutes.find((route) => route.operation === operation)?.body as TSchema;

test("D-52: a person's message in the app has the same limit as an app's, and a comment that of a caption", () => {
  expectBounds(bodyOf("sendInApp"), { social_account: "6001" }, { text: { right: ["x", textOf(1_000)], wrong: ["", textOf(1_001)] } });
  const comments = { text: { right: ["x", textOf(2_200)], wrong: ["", textOf(2_201)] } };
  expectBounds(bodyOf("commentInApp"), { social_account: "6001", media: "6101" }, comments);
  expectBounds(bodyOf("commentLiveInApp"), { social_account: "6001", live_video: "5301" }, comments);
});

test("a pressed button belongs to a message, and may have an empty text", () => {
  expectBounds(
    bodyOf("pressInApp"),
    { social_account: "6001", title: "", payload: "", mid: "m" },
    {
      mid: { right: ["x", textOf(1_000)], wrong: ["", textOf(1_001)] },
      title: { right: ["", textOf(1_000)], wrong: [1, textOf(1_001)] },
      payload: { right: ["", textOf(1_000)], wrong: [undefined, textOf(1_001)] },
    },
  );
});

test("D-52, D1-10: a message of an app has 1 to 1,000 characters", () => {
  const right = [{ text: "x" }, { text: textOf(1_000), quick_replies: [] }];
  expectBounds(sendSelfMessage.params, {}, { message: { right, wrong: [{ text: "" }, { text: textOf(1_001) }, {}] } });
});
