/** Pages that are imported as text. */
declare module "*.md" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: a file that is imported is its default export
  export default text;
}
