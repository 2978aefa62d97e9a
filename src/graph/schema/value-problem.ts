/** Why a value does not fit its schema. Requests turn it into `invalidParameter`, world files into `WorldProblem`. */
export class ValueProblem extends Error {
  constructor(
    readonly problem: string,
    /** Where inside of the value, e.g. `users[0].name`; empty for the value itself. */
    readonly path = "",
  ) {
    super(path === "" ? problem : `${path} ${problem}`);
    this.name = "ValueProblem";
  }
}

/** Throws the problem on, as seen from one level higher. Another error goes on as it is. */
export function below(error: unknown, step: string | number): never {
  if (!(error instanceof ValueProblem)) throw error;
  const outer = typeof step === "number" ? `[${step}]` : step;
  const isPlace = error.path === "" || error.path.startsWith("[");
  throw new ValueProblem(error.problem, isPlace ? outer + error.path : `${outer}.${error.path}`);
}
