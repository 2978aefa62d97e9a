/**
 * The options of a server in tests. These options override the variables and `plaza.config.yaml`, which may give the ports and the data of a
 * developer's own server.
 */
export const forTests: Readonly<Record<string, unknown>> = {
  port: 0,
  control_port: 0,
  data: ":memory:",
  databases: [],
  rtmp_port: "off",
  rtmps_port: "off",
  workers: 1,
  json: true,
  log_level: "error",
};
