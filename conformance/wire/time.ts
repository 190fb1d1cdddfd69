// Waiting: for a while, or until something is so, never longer than said.

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The first answer that is not undefined, or undefined when the time is over. */
export async function eventually<Answer>(
  ask: () => Answer | undefined | Promise<Answer | undefined>,
  withinMs: number,
): Promise<Answer | undefined> {
  const endMs = performance.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() >= endMs) return undefined;
    await sleep(50);
  }
}

/** Instants around now, as the wire writes them. */
export function instantIn(seconds: number): string {
  return new Date(Date.now() + seconds * 1000).toISOString();
}
