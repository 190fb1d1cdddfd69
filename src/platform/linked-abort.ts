// A signal that ends with another one, for waits that are many and short beside a signal that lives long. It takes its
// listener back when it is released, where every AbortSignal.any() would leave something at the long-lived one for ever.

export interface LinkedAbort {
  signal: AbortSignal;
  abort(): void;
  /** Lets go of the other signal. */
  release(): void;
}

export function linkedAbort(other: AbortSignal | undefined): LinkedAbort {
  const controller = new AbortController();
  const abort = () => controller.abort();
  if (other?.aborted) abort();
  other?.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    abort,
    release: () => other?.removeEventListener('abort', abort),
  };
}
