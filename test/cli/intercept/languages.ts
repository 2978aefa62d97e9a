/** Programs in different languages that read one address with the HTTP client of their language, and print the response. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { needs } from "#harness/processes/needs";

needs("curl", "python", "java", "php", "ruby");

const JAVA = `import java.net.*; import java.net.http.*;
public class Main { public static void main(String[] given) throws Exception {
  var request = HttpRequest.newBuilder(URI.create(given[0])).build();
  System.out.println(HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body());
  System.out.println(new String(new URL(given[0]).openStream().readAllBytes()));
}}`;

/** For each program, the command that makes it read this address. */
export function readers(folder: string, url: string): Record<string, string[]> {
  writeFileSync(join(folder, "Main.java"), JAVA);
  return {
    curl: ["curl", "-sS", url],
    "Python's urllib": ["python3", "-c", `import urllib.request as r; print(r.urlopen("${url}").read().decode())`],
    "Java's HttpClient and URL": ["java", join(folder, "Main.java"), url],
    "PHP's curl": [
      "php",
      "-r",
      `$c = curl_init("${url}"); curl_setopt($c, CURLOPT_RETURNTRANSFER, true); echo curl_exec($c), curl_error($c), "\\n";`,
    ],
    "Ruby's net/http": ["ruby", "-rnet/http", "-e", `puts Net::HTTP.get(URI("${url}"))`],
  };
}
