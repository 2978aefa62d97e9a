import { appTokenAlone } from "#auth/app-policies";

/** AUTH-22, D-13: of I1 and of what is read of it. */
export const appEventsPolicy = appTokenAlone("appEvents");
