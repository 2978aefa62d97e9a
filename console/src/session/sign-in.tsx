import { type FormEvent, useState } from "react";
import { isKeyValid } from "../api/client.ts";
import { keepKey } from "./key.ts";

/** The form that asks for the control key. Before a valid key is given, the console shows nothing of the server. */
export function SignIn({ onSignedIn }: { readonly onSignedIn: () => void }) {
  const [problem, setProblem] = useState<string>();
  const signIn = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const key = String(new FormData(event.currentTarget).get("key")).trim();
    try {
      if (!(await isKeyValid(key))) {
        setProblem("The server does not know this key.");
        return;
      }
      keepKey(key);
      onSignedIn();
    } catch {
      setProblem("The server cannot be reached.");
    }
  };
  return (
    <main className="sign-in">
      <form onSubmit={(event) => void signIn(event)}>
        <h1>Plaza console</h1>
        <label htmlFor="key">Control key</label>
        <input id="key" name="key" type="password" autoComplete="off" spellCheck={false} required aria-describedby="key-help key-problem" />
        <p id="key-help" className="quiet">
          A sandbox prints an address that signs you in, and stores the key in <code>control.key</code> in its data folder. Other servers have the key
          in <code>PLAZA_CONTROL_KEY</code>. Only this tab stores the key, until you close the tab.
        </p>
        <p id="key-problem" role="alert" className="bad">
          {problem}
        </p>
        <button type="submit" className="primary">
          Sign in
        </button>
        <a href="/docs">API reference, which needs no key</a>
      </form>
    </main>
  );
}
