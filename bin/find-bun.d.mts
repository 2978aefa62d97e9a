export function findBun(fromHere: NodeJS.Require): string | undefined;
