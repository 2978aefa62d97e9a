import "./styles/console.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { lazy, StrictMode, Suspense, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { onSignedOut } from "./api/client.ts";
import { queryClient, serverQuery } from "./api/queries.ts";
import { endTail } from "./api/tail.ts";
import { router } from "./router.tsx";
import { currentKey, takeKeyFromAddress } from "./session/key.ts";
import { applyTheme } from "./shell/theme.ts";

const SignIn = lazy(() => import("./session/sign-in.tsx").then(({ SignIn: component }) => ({ default: component })));

function Console() {
  const [isSignedIn, setSignedIn] = useState<boolean>();
  useEffect(() => {
    onSignedOut(() => {
      endTail();
      queryClient.clear();
      setSignedIn(false);
    });
    // The console shows no view before the server has accepted the key. If the server cannot be reached, the page says so, and the tab keeps
    // the key.
    const show = (): void => setSignedIn(currentKey() !== undefined);
    if (currentKey() === undefined) show();
    else void queryClient.fetchQuery(serverQuery).then(show, show);
  }, []);
  if (isSignedIn === undefined) return null;
  if (isSignedIn) return <RouterProvider router={router} />;
  return (
    <Suspense>
      <SignIn onSignedIn={() => setSignedIn(true)} />
    </Suspense>
  );
}

// The library for dialogs reads the nonce for its style sheet from this variable.
Object.assign(globalThis, { __webpack_nonce__: document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.content });
takeKeyFromAddress();
applyTheme();
createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <Console />
    </QueryClientProvider>
  </StrictMode>,
);
