/** Writes JSON as text for people. Each value of the JSON has a line that begins with the path of the value. */
export function linesOf(value: unknown, path = ""): string[] {
  if (typeof value !== "object" || value === null) return [path === "" ? String(value) : `${path}: ${value}`];
  const entries = Object.entries(value);
  if (entries.length === 0) return path === "" ? [] : [`${path}: ${Array.isArray(value) ? "[]" : "{}"}`];
  if (Array.isArray(value) && value.every((one) => typeof one !== "object" || one === null))
    return [`${path === "" ? "" : `${path}: `}${value.join(", ")}`];
  return entries.flatMap(([key, inner]) => linesOf(inner, path === "" ? key : Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`));
}
