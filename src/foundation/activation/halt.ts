/** Why a run has to stop, told once: the first reason stands. */
import type { StopReason } from '../runtime/index.js';

/** Beside the host's reasons: `cancelled` by a control, `fault` when the run's own records cannot be written. */
export type HaltReason = StopReason | 'cancelled' | 'fault';

export interface Halt {
  readonly signal: AbortSignal;
  why(): HaltReason | undefined;
  halt(reason: HaltReason): void;
}

export function createHalt(): Halt {
  const controller = new AbortController();
  let why: HaltReason | undefined;
  return {
    signal: controller.signal,
    why: () => why,
    halt(reason) {
      why ??= reason;
      controller.abort();
    },
  };
}

/** The run goes on elsewhere, or is found by its lease: what the runtime still says here counts no more. */
export function isAbandoned(why: HaltReason | undefined): boolean {
  return why === 'lost' || why === 'released' || why === 'fault';
}
