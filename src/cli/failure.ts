// How a command ends when it did not do what was asked, and the exit code that says which way.
import { printable } from './printable.js';

export const EXIT = { ok: 0, refused: 1, usage: 2, unreachable: 3 } as const;
type FailureKind = Exclude<keyof typeof EXIT, 'ok'>;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

type FailureParts = {
  /** What happened, as a sentence. */
  readonly said: string;
  /** What to do about it. */
  readonly advice?: string | undefined;
  readonly requestId?: string | undefined;
  /** The domain's own word for a refusal by policy. */
  readonly reason?: string | undefined;
  /** True for what may pass by itself, such as a server that is just stopping. */
  readonly retryable?: boolean;
  readonly cause?: unknown;
};

export class CliFailure extends Error {
  override readonly name: string = 'CliFailure';
  readonly kind: FailureKind;
  readonly exitCode: ExitCode;
  readonly advice: string | undefined;
  readonly requestId: string | undefined;
  readonly reason: string | undefined;
  readonly retryable: boolean;

  constructor(kind: FailureKind, parts: FailureParts) {
    super(parts.said, parts.cause === undefined ? undefined : { cause: parts.cause });
    this.kind = kind;
    this.exitCode = EXIT[kind];
    this.advice = parts.advice;
    this.requestId = parts.requestId;
    this.reason = parts.reason;
    this.retryable = parts.retryable ?? kind === 'unreachable';
  }

  /** The same failure with other advice. */
  advise(advice: string): CliFailure {
    return new CliFailure(this.kind, {
      said: this.message,
      advice,
      requestId: this.requestId,
      reason: this.reason,
      retryable: this.retryable,
      cause: this.cause,
    });
  }
}

/** One sentence, what to do, and the request id to quote: a line each. */
export function describeFailure(failure: CliFailure): string {
  const lines = [`hearth: ${printable(failure.message)}`];
  if (failure.advice !== undefined)
    lines.push(...failure.advice.split('\n').map((line) => `  ${printable(line.trim())}`));
  if (failure.requestId !== undefined) lines.push(`  Request id: ${printable(failure.requestId)}`);
  return `${lines.join('\n')}\n`;
}
