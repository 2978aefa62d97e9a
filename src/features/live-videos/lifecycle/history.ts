/** The last moves of a live video, kept with it: for people who ask how it came to its state. */
import type { LiveEvent, State } from "./states.ts";

interface Move {
  /** World time. */
  readonly ms: number;
  /** `declared`: an operator set the state. */
  readonly event: LiveEvent | "declared";
  readonly state: State;
}

export const NO_MOVES = "[]";
/** A broadcast has some ten; an encoder that breaks off again and again makes more. */
const MOVES_MAX = 50;

export const withMove = (history: string, move: Move): string => JSON.stringify([...movesOf(history), move].slice(-MOVES_MAX));

export const movesOf = (history: string): Move[] => JSON.parse(history) as Move[];
