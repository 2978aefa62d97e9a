/** The only place that reads the process's environment. */
export const environment = (): Readonly<Record<string, string | undefined>> => process.env;
