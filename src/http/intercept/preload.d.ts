/** Declares the file that Node programs load before they start. The file is imported as text. */
declare module "*/preload.cjs" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: a file that is imported as text is its default export
  export default text;
}
