/** Scripts that are handed out as they are. */
declare module "hls.js/dist/hls.min.js" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: a file that is imported as text is its default export
  export default text;
}
