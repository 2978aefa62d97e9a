/** The commands about webhooks. Each of these commands loads its modules only when it runs. */
import type { Command } from "commander";
import { collected, runs, serverCommand } from "../command-options.ts";

export function addWebhookCommands(plaza: Command): void {
  serverCommand(plaza, "listen", "receives the webhooks of an app, prints a line for each, and forwards them with their signatures")
    .option("--forward-to <URL>", "forward webhooks to this address, e.g. localhost:3000/hook, and return its status to the server")
    .option(
      "--events <A,B>",
      "subscribe the app only to these events while it listens, e.g. messages,page.custom_labels; * is every event (default: the app's subscriptions, else every event)",
    )
    .option("--no-subscribe", "do not subscribe the app to further accounts and pages")
    .option("--print-json", "print the body of each webhook, and nothing else, on stdout")
    .option("--print-secret", "print the signing secret of the app and end")
    .option("--app <ID>", "the app (default: the only app of the world)")
    .option("--port <N>", "port to receive webhooks on (default: a free port)")
    .option("--public-url <URL>", "address under which the server reaches the listener, if the server runs on another machine")
    .action(runs(async (given) => (await import("./listen.ts")).listen(given)));
  const trigger = serverCommand(plaza, "trigger", "triggers an example event, or the events of a script, and prints the result of each delivery")
    .argument("[event]", "a webhook field, e.g. messages or social.comments")
    .option("--list", "list the events")
    .option("--entity <ID>", "the id of the account or page (default: the first account or page of the world that has such events)")
    .option("--phone-number <ID>", "the business phone number, if the event belongs to one")
    .option("--override <PATH=VALUE>", "replace a value of the example, e.g. messages[0].text.body=hello; repeatable", collected)
    .option("--value <JSON>", "the value of the event (default: an example)")
    .option("--script <FILE>", "trigger the events of this file, step by step; - reads standard input")
    .option("--json", "print one JSON object per delivery, with every attempt")
    // `trigger` itself refuses further arguments, because its message can name the command that the user meant.
    .allowExcessArguments();
  trigger.action(runs(async (given, event) => (await import("./trigger.ts")).trigger(event, given, trigger.args.slice(1))));
  addDeliveryCommands(plaza.command("deliveries").description("lists webhook deliveries, and sends them again"));
}

function addDeliveryCommands(deliveries: Command): void {
  serverCommand(deliveries, "list", "lists deliveries, the newest first")
    .option("--status <A,B>", "only deliveries with these states: waiting, sending, delivered, failed, unsubscribed")
    .option("--callback <URL>", "only deliveries to this callback, by its address or id")
    .option("--field <NAME>", "only deliveries of this webhook field")
    .option("--limit <N>", "the number of deliveries (default: 20)")
    .option("--json", "print one JSON object per line, with every attempt")
    .action(runs(async (given) => (await import("./deliveries.ts")).listDeliveries(given)));
  serverCommand(deliveries, "show", "prints deliveries with their bodies and every attempt")
    .argument("<id...>", "ids of deliveries, from plaza deliveries list")
    .action(runs(async (given, ids: string[]) => (await import("./deliveries.ts")).showDeliveries(given, ids)));
  serverCommand(deliveries, "resend", "sends deliveries again, with the same ids and bodies, and resumes a paused callback")
    .argument("[id...]", "ids of deliveries, from plaza deliveries list")
    .option("--since <TIME>", "all deliveries since this world time: Unix seconds or ISO 8601")
    .option("--callback <URL>", "with --since: only deliveries to this callback, by its address or id")
    .option("--json", "print JSON")
    .action(runs(async (given, ids: string[]) => (await import("./deliveries.ts")).resendDeliveries(given, ids)));
}
