/** A write is durable even if a listener or action throws; such a throw is a programmer's mistake and surfaces as an uncaught error. */
export function runAction(action: () => void): void {
  try {
    action();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
