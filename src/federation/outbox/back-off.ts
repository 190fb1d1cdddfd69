/**
 * When to try a failing peer again. Pure: the wait grows 1 s × 2 per failure with jitter, stays within 60 s while the
 * failure is young (a restart ends soon) and within an hour later; what the peer itself asks for is honoured up to a day.
 */

export interface FailureFacts {
  /** Failures in a row, the present one included. */
  failures: number;
  /** How long the peer has been failing. */
  failingForMs: number;
  retryAfterMs?: number | undefined;
  /** In [0.8, 1.4). */
  jitter: number;
}

export const jitterFrom = 0.8;
export const jitterTo = 1.4;
const firstMs = 1_000;
const youngMs = 5 * 60_000;
const youngCapMs = 60_000;
const oldCapMs = 3_600_000;
const retryAfterCapMs = 24 * 3_600_000;

/** How long to wait before the next attempt. */
export function nextAttempt({ failures, failingForMs, retryAfterMs, jitter }: FailureFacts): number {
  const cap = failingForMs < youngMs ? youngCapMs : oldCapMs;
  // Past 2^12 s every cap is reached; the bound keeps the power a safe number.
  const grown = firstMs * 2 ** Math.min(Math.max(failures, 1) - 1, 12);
  const own = Math.min(grown * jitter, cap);
  return Math.max(own, Math.min(retryAfterMs ?? 0, retryAfterCapMs));
}
