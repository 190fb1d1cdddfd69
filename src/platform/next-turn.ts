/** Lets everything else that is ready have its turn on this thread. A timer of 0 ms would take at least one. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
