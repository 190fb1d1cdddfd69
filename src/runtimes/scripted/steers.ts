/** Steers on their way to scripts: each waits until its run asks for one, or ends. */
import type { Steering } from '../../foundation/index.js';

interface Waiting {
  steering: Steering;
  answer: (taken: boolean) => void;
}

interface Inbox {
  waiting: Waiting[];
  arrived: () => void;
}

export interface Steers {
  open(runId: string): void;
  /** The run takes nothing more; what still waits was not taken. */
  close(runId: string): void;
  offer(runId: string, steering: Steering): Promise<boolean>;
  /** The next steer; undefined when the signal aborts first. */
  take(runId: string, signal: AbortSignal): Promise<Steering | undefined>;
}

export function createSteers(): Steers {
  const inboxes = new Map<string, Inbox>();
  return {
    open: (runId) => void inboxes.set(runId, { waiting: [], arrived: () => undefined }),
    close(runId) {
      for (const { answer } of inboxes.get(runId)?.waiting ?? []) answer(false);
      inboxes.delete(runId);
    },
    offer(runId, steering) {
      const inbox = inboxes.get(runId);
      if (!inbox) return Promise.resolve(false);
      return new Promise((answer) => {
        inbox.waiting.push({ steering, answer });
        inbox.arrived();
      });
    },
    async take(runId, signal) {
      const inbox = inboxes.get(runId);
      while (inbox && inbox.waiting.length === 0 && !signal.aborted) await arrival(inbox, signal);
      const next = signal.aborted ? undefined : inbox?.waiting.shift();
      next?.answer(true);
      return next?.steering;
    },
  };
}

function arrival(inbox: Inbox, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    inbox.arrived = resolve;
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
