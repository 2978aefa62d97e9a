/** Plays a history on a server and on the model at the same time, and returns the first difference. */
import type { History, RequestStep, Step } from "../histories/steps.ts";
import { askAgain } from "./again.ts";
import { ask, fillingOf, follow } from "./ask.ts";
import { askInBatch } from "./batch.ts";
import { changeWorld } from "./changes/change-world.ts";
import { playOutage } from "./changes/outage.ts";
import { askForMany } from "./many.ts";
import { resolve } from "./resolve.ts";
import { playInterruption, playRestart } from "./restart.ts";
import { closeScene, openScene, type Scene, type Stage } from "./scene.ts";

/** The first difference between server and model: the number of its step, or the end of the history. */
export interface Parting {
  readonly step: number | "end";
  readonly what: string;
}

export async function play(stage: Stage, history: History): Promise<Parting | undefined> {
  const { begins, versions } = history;
  const used = history.worlds.map((profile, place) => (history.steps.some(({ world }) => world === place) ? profile : undefined));
  const scenes = await Promise.all(used.map((profile) => (profile === undefined ? undefined : openScene(stage, { profile, begins, versions }))));
  let isRight = false;
  try {
    for (const [place, step] of history.steps.entries()) {
      const scene = scenes[step.world];
      if (scene === undefined) throw new Error(`the history has no world ${step.world}`);
      const what = await take(scene.elsewhere === undefined ? stage : { ...stage, servers: scene.elsewhere }, scene, step);
      if (what !== undefined) return { step: place, what };
    }
    for (const scene of scenes) {
      const what = scene === undefined ? undefined : await stage.ledger.settle(scene.world);
      if (what !== undefined) return { step: "end", what };
    }
    isRight = true;
    return undefined;
  } finally {
    for (const scene of scenes) if (scene !== undefined) await closeScene(stage, scene, isRight);
  }
}

function happeningOf(step: Exclude<Step, RequestStep>): string {
  if (step.kind === "restart" || step.kind === "interrupt") return `${step.kind} (${step.how})`;
  return step.kind === "move" && step.into !== undefined ? `${step.kind} (into another ${step.into})` : step.kind;
}

async function take(stage: Stage, scene: Scene, step: Step): Promise<string | undefined> {
  stage.coverage.happens(`steps in the profile ${scene.world.profile}`);
  if (step.world > 0) stage.coverage.happens("steps in a second world");
  if (step.kind !== "request") stage.coverage.happens(happeningOf(step));
  if (step.kind === "request") return ask(stage, scene, step, resolve(step, scene.world, fillingOf(stage, scene)));
  if (step.kind === "batch") return askInBatch(stage, scene, step, fillingOf(stage, scene));
  if (step.kind === "many") return askForMany(stage, scene, step, fillingOf(stage, scene));
  if (step.kind === "again") return askAgain(stage, scene, step);
  if (step.kind === "follow") return follow(stage, scene, step.link);
  if (step.kind === "restart") return playRestart(stage, scene, step);
  if (step.kind === "interrupt") return playInterruption(stage, scene, step);
  return step.kind === "outage" ? playOutage(stage, scene, step) : changeWorld(stage, scene, step);
}
