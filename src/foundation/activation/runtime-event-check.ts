/** What a runtime says is kept as data, so it has to be data that can be kept: bounded, and JSON without strange text. */
import { canonicalize, type JsonValue } from '../../protocol/index.js';
import { runLimits } from '../run/index.js';
import type { RunEnding } from '../runtime/index.js';
import { faultOfWait, suspensionLimits } from '../suspension/index.js';

// PostgreSQL keeps no NUL. A backslash that is itself escaped makes u0000 plain text.
const escapedNul = /(?<!\\)(?:\\\\)*\\u0000/;

/** Undefined when it can be kept, else the reason why not. */
export function faultOfValue(value: JsonValue, maxBytes: number): 'malformed' | 'too_large' | undefined {
  let text: string;
  try {
    text = canonicalize(value);
  } catch (error) {
    if (error instanceof TypeError) return 'malformed';
    throw error;
  }
  if (escapedNul.test(text)) return 'malformed';
  return Buffer.byteLength(text) > maxBytes ? 'too_large' : undefined;
}

/** An ending that cannot be kept becomes a failure that says so. */
export function checkedEnding(ending: RunEnding): RunEnding {
  const fault = faultOfEnding(ending);
  return fault === undefined ? ending : { type: 'run.failed', reason: fault };
}

function faultOfEnding(ending: RunEnding): string | undefined {
  if (ending.type === 'run.completed') {
    const result = faultOfValue(ending.result, runLimits.eventBytes);
    const state =
      ending.runtimeState === undefined ? undefined : faultOfValue(ending.runtimeState, runLimits.stateBytes);
    return result ? `result_${result}` : state && `runtime_state_${state}`;
  }
  if (faultOfValue(ending.reason, suspensionLimits.reasonChars * 4)) return 'reason_malformed';
  if (ending.type !== 'run.suspended') return undefined;
  const state = faultOfValue(ending.runtimeState, runLimits.stateBytes);
  if (state) return `runtime_state_${state}`;
  // A wait that nothing can end is one of its faults.
  return faultOfWait(ending);
}
