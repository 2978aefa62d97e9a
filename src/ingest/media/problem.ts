/** The media cannot be taken. The publisher gets the reason and is disconnected. */
export class MediaProblem extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = "MediaProblem";
  }
}
