/** The peer does not speak RTMP as a publisher does, or wants more than it may have. The connection ends. */
export class RtmpProblem extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = "RtmpProblem";
  }
}
