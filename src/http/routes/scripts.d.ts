/** Declares script files that the server imports as text and sends to browsers unchanged. */
declare module "hls.js/dist/hls.min.js" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: a file that is imported as text is its default export
  export default text;
}
