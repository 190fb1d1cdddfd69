/** The scripted runtime behind the real contract: in process, deterministic, with a portable checkpoint. */
import type { Runtime, RuntimeDescriptor, RuntimeKind } from '../../foundation/index.js';
import { runScript } from './run-script.js';
import { parseScript, readScript, type Script } from './script.js';
import { createSteers } from './steers.js';

export function scriptedRuntime(): RuntimeKind {
  return {
    id: 'scripted',
    checkConfig: (config) => void parseScript(config),
    open(config) {
      const read = readScript(config);
      return 'script' in read ? openScript(read.script) : undefined;
    },
  };
}

function openScript(script: Script): Runtime {
  const steers = createSteers();
  return {
    describe: () => describeScript(script),
    activate: (activation) => runScript(script, activation, steers),
    steer: (runId, steering) => steers.offer(runId, steering),
    fork: (state) => Promise.resolve(structuredClone(state)),
  };
}

/** Steering has to be declared; forking may be switched off, for agents whose state must not be copied. */
function describeScript({ supports }: Script): RuntimeDescriptor {
  const fork = supports?.fork ?? true;
  return {
    runtime_id: 'scripted',
    runtime_version: '1',
    supports_steer: supports?.steer ?? false,
    supports_interrupt: true,
    supports_native_resume: true,
    supports_fork: fork,
    supports_checkpoint: true,
    suspend: 'native',
    state_portability: fork ? 'portable' : 'native',
  };
}
