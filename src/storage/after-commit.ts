/** A write is durable whatever its listeners and actions do; a throw is a programmer's mistake and surfaces as an uncaught error. */
export function runAction(action: () => void): void {
  try {
    action();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
