/** The path of a file that is beside the program, relative to the module. */
declare module "*.flv" {
  const path: string;
  // biome-ignore lint/style/noDefaultExport: a file that is imported is its default export
  export default path;
}
