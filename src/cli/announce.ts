/** What a sandbox prints at start: addresses, the control key, the demo tokens, and requests to paste. */
import type { RunningPlaza } from "#main";

export function announcement({ ready, demo, newestVersion }: RunningPlaza, callback?: string): string {
  const lines = ["", "Plaza is ready.", ""];
  const addresses: [string, string | undefined][] = [
    ["graph", ready.base_url],
    ["app", ready.app_base_url],
    ["microblog", ready.microblog_base_url],
    ["ads", ready.ads_base_url],
    ["social login", ready.social_login_host],
    ["live video", ready.rtmp_url ?? undefined],
    ["console", ready.control_key === undefined ? ready.control_url : `${ready.control_url}/#key=${encodeURIComponent(ready.control_key)}`],
    ["control API", `${ready.control_url}/v1`],
    ["control key", ready.control_key],
    ["webhooks to", callback],
    // The demo world's secret is public, and stands below.
    ["signed with", callback === undefined || demo !== undefined ? undefined : "the app's secret, which plaza listen --print-secret prints"],
  ];
  for (const [name, address] of addresses) if (address !== undefined) lines.push(`  ${name.padEnd(14)}${address}`);
  if (demo !== undefined) {
    lines.push("", "Tokens of the demo world:", "");
    for (const { token, type } of demo.tokens) lines.push(`  ${type.padEnd(16)}${token}`);
    lines.push("", `The demo app's secret, which signs its webhooks: ${demo.secret}`);
    lines.push("", "Try these requests:", "");
    for (const request of requests(`${ready.base_url}/${newestVersion}/${demo.page}`, demo.page_token)) lines.push(`  ${request}`);
  }
  return `${lines.join("\n")}\n\n`;
}

/** Page messaging requires the token in three places (D-10). */
function requests(page: string, token: string): string[] {
  const credentials = `access_token=${token}&oauth_token=${token}`;
  const bearer = `-H 'Authorization: Bearer ${token}'`;
  return [
    `curl ${bearer} '${page}/custom_labels?fields=id,name&${credentials}'`,
    `curl ${bearer} '${page}/custom_labels?${credentials}' -d page_label_name=regular`,
    `curl ${bearer} '${page}/personas?${credentials}'`,
  ];
}
