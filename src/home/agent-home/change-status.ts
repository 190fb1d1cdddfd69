// Pausing, resuming and ending an agent; what each state means is written at the principal.
import { appendAudit } from '../../foundation/index.js';
import type { Database } from '../../platform/index.js';
import { type Refusal, refuse } from '../../protocol/index.js';
import { lapsePlacement } from '../placement/index.js';
import { moveStatus, type Principal, type PrincipalStatus, principalByAddress } from '../principal/index.js';

export interface ChangeStatus {
  address: string;
  /** Address of who asks, for the audit. */
  actor: string;
}

export type StatusChange = { ok: true; principal: Principal } | Refusal<'agent_unknown' | 'wrong_status'>;

type Move = { action: string; from: readonly PrincipalStatus[]; to: PrincipalStatus };

const pause: Move = { action: 'agent.pause', from: ['active'], to: 'paused' };
const resume: Move = { action: 'agent.resume', from: ['paused'], to: 'active' };
const end: Move = { action: 'agent.end', from: ['created', 'active', 'paused', 'migrating'], to: 'ended' };

export function pauseAgent(db: Database, request: ChangeStatus): Promise<StatusChange> {
  return changeStatus(db, request, pause);
}

export function resumeAgent(db: Database, request: ChangeStatus): Promise<StatusChange> {
  return changeStatus(db, request, resume);
}

/** Final. What still runs is fenced with this commit, by the placement that lapses in it. */
export function endAgent(db: Database, request: ChangeStatus): Promise<StatusChange> {
  return changeStatus(db, request, end);
}

async function changeStatus(db: Database, { address, actor }: ChangeStatus, move: Move): Promise<StatusChange> {
  return db.transact(move.action, async (tx) => {
    const principal = await principalByAddress(tx, address);
    if (principal?.kind !== 'agent') return refuse('agent_unknown', `there is no agent ${address}`);
    if (!(await moveStatus(tx, principal.home, move))) {
      const current = await principalByAddress(tx, address);
      return refuse('wrong_status', `${address} is ${current?.status}, so it cannot become ${move.to}`);
    }
    if (move.to === 'ended') await lapsePlacement(tx, principal.home);
    await appendAudit(tx, {
      home: principal.home,
      actor,
      action: move.action,
      object: address,
      outcome: move.to,
      details: { from: principal.status },
    });
    return { ok: true, principal: { ...principal, status: move.to } };
  });
}
