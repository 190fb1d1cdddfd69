// The loop that looks after effects whose run is over or whose outcome is not known.
import { type EffectGateway, recoverEffects } from '../foundation/index.js';
import { runWorker } from '../platform/index.js';

const idleMs = 2_000;

export function runRecoverEffects(gateway: EffectGateway, signal: AbortSignal): Promise<void> {
  const { clock, wakeups, log, random } = gateway;
  const step = () => recoverEffects(gateway);
  return runWorker({ name: 'recover-effects', clock, wakeups, log, random, channel: 'effects', idleMs, step, signal });
}
