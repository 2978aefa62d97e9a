/** The commands `conform`, `record` and `compare`, which work with any server of the interface, not only with Plaza. */
import type { Command } from "commander";
import { collected, runs } from "../command-options.ts";

export function addContractCommands(plaza: Command): void {
  plaza
    .command("conform")
    .description("checks any server against the interface, and reports the clauses that it violates")
    .option("--base-url <URL>", "main address of the server; the other surfaces are expected below it")
    .option("--control-url <URL>", "control API of the server, for cases that need it")
    .option("--control-key <KEY>", "a key of that control API (default: PLAZA_CONTROL_KEY)")
    .option("--profile <NAME>", "profile of the server: strict or clients", "strict")
    .option("--area <NAME>", "only the cases of this area (repeatable)", collected)
    .option("--clause <ID>", "only the cases that cite this clause or decision (repeatable)", collected)
    .option("--title <TEXT>", "only the cases whose title contains this text")
    .option("--list", "print the titles of the cases and run no case")
    .option("--json", "print one JSON document instead of lines")
    .option("--failures", "print only failures")
    .option("--uncovered", "also name the clauses without a passing case")
    .option("--junit <FILE>", "also write the report as JUnit XML, a test for each case")
    .option("--html <FILE>", "also write the report as a page, by clause")
    .action(runs(async (given) => (await import("./servers.ts")).conform(given)));
  plaza
    .command("record")
    .description("passes requests on to a server, and writes requests and responses into a HAR file, without secrets")
    .requiredOption("--upstream <URL>", "the server")
    .requiredOption("--out <FILE>", "the file")
    .option("--host <ADDRESS>", "address to listen on", "127.0.0.1")
    .option("--port <N>", "port to listen on (default: a free port)")
    .option("--allow-origin <ORIGIN>", "let web pages of this origin send requests, besides pages on loopback; repeatable", collected)
    .option("--allow-host <HOST>", "accept requests for this host name or address, besides --host and loopback; repeatable", collected)
    .action(runs(async (given) => (await import("./record.ts")).record(given)));
  plaza
    .command("compare")
    .description("sends the same requests to two servers, and prints the differences by operation")
    .argument("<first>", "main address of a server")
    .argument("<second>", "main address of the other server")
    .option("--recording <FILE>", "send the requests of this recording of plaza record, or of another HAR file")
    .option(
      "--recorded-url <URL>",
      "send only requests to this server, if a HAR file has requests to several (default: the server of the first request)",
    )
    .option(
      "--secret <VALUE>",
      "replaces the … in the recording; secret-2=VALUE replaces one of several secrets, by its name in the file (repeatable)",
      collected,
    )
    .option("--second-secret <VALUE>", "a secret that is different on the second server (repeatable)", collected)
    .option("--conformance", "send the requests of the conformance cases")
    .option("--area <NAME>", "only the cases of this area (repeatable)", collected)
    .option("--profile <NAME>", "profile of both servers: strict or clients", "strict")
    .option("--control-url <URL>", "control API of the first server, for --conformance")
    .option("--control-key <KEY>", "a key of that control API (default: PLAZA_CONTROL_KEY)")
    .option("--second-control-url <URL>", "control API of the second server")
    .option("--second-control-key <KEY>", "a key of that control API (default: PLAZA_CONTROL_KEY)")
    .option("--rules <FILE>", "YAML file with the differences that are allowed")
    .option("--json", "print one JSON document instead of lines")
    .action(runs(async (given, first, second) => (await import("./compare.ts")).compare(first, second, given)));
}
