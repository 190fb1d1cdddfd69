// The loop that forgets what time has passed by: used nonces, answers past dedupe memory, parked items past their age.
import { federationChannels, type Gateway, sweepFederation } from '../federation/index.js';
import { runWorker } from '../platform/index.js';

const idleMs = 60_000;

export function runSweepFederation(gateway: Gateway, signal: AbortSignal): Promise<void> {
  const { clock, wakeups, log, random } = gateway;
  const step = () => sweepFederation(gateway);
  const channel = federationChannels.sweep;
  return runWorker({ name: 'sweep-federation', clock, wakeups, log, random, channel, idleMs, step, signal });
}
