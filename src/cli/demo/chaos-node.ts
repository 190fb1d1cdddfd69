/**
 * A domain whose ports can be struck: the stock composition with its database, key custody and peer client wrapped from
 * outside. The parent process arms one strike a round; the chosen call kills this process or its postmaster, for real.
 */
import { type InterposedPorts, startHearth } from '../../main.js';
import type { Strike, StrikePhase, StrikePort } from './chaos-plan.js';

let armed: Strike | undefined;
let calls = noCalls();
let postmasterPid: () => number | undefined = () => undefined;

function noCalls(): Record<StrikePort, number> {
  return { commit: 0, sign: 0, send: 0, receive: 0 };
}

process.on('message', (message: { arm?: Strike | null; tally?: true }) => {
  if (message.arm !== undefined) {
    armed = message.arm ?? undefined;
    calls = noCalls();
  }
  if (message.tally) process.send?.({ counts: calls });
});

/** Counts a call of a port and answers what to run at each of its phases. */
function enter(port: StrikePort): (phase: StrikePhase) => Promise<void> {
  calls[port] += 1;
  const mine = armed?.port === port && armed.occurrence === calls[port] ? armed : undefined;
  return async (phase) => {
    if (mine === undefined || mine !== armed || mine.phase !== phase) return;
    armed = undefined;
    await strike(mine);
  };
}

async function strike(plan: Strike): Promise<void> {
  await new Promise<void>((resolve) => {
    if (process.send) process.send({ struck: true }, () => resolve());
    else resolve();
  });
  if (plan.kill === 'node') process.kill(process.pid, 'SIGKILL');
  const pid = postmasterPid();
  if (pid !== undefined) process.kill(pid, 'SIGKILL');
}

/** `before` and `after` surround the call; `inside` falls once it is under way. */
async function struck<T>(ports: readonly StrikePort[], call: (inside: () => Promise<void>) => Promise<T>): Promise<T> {
  const phases = ports.map(enter);
  const at = async (phase: StrikePhase) => {
    for (const run of phases) await run(phase);
  };
  await at('before');
  const result = await call(() => at('inside'));
  await at('after');
  return result;
}

function interpose(ports: InterposedPorts): InterposedPorts {
  postmasterPid = ports.postmasterPid;
  const { database, custody, peerHttp } = ports;
  return {
    ...ports,
    database: {
      ...database,
      transact: (name, work) =>
        struck(portsOf(name), (inside) =>
          database.transact(name, async (tx) => {
            const result = await work(tx);
            await inside();
            return result;
          }),
        ),
    },
    custody: {
      ...custody,
      sign: (key, bytes) =>
        struck(['sign'], async (inside) => {
          const signature = await custody.sign(key, bytes);
          await inside();
          return signature;
        }),
    },
    peerHttp: {
      ...peerHttp,
      request: (request) =>
        struck(['send'], async (inside) => {
          const answer = peerHttp.request(request);
          answer.catch(() => undefined);
          await inside();
          return await answer;
        }),
    },
  };
}

/** What a peer sends is received in transactions of their own name. */
function portsOf(transaction: string): StrikePort[] {
  return transaction.startsWith('gateway.') ? ['commit', 'receive'] : ['commit'];
}

await startHearth({ interpose });
// The channel to the parent would keep the stopped process alive.
process.disconnect?.();
// The channel to the parent would keep this process alive after its domain has stopped.
if (process.connected) process.disconnect();
