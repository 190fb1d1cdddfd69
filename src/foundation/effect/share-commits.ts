/**
 * Effects inside our own database that are proposed while others are being committed share the next commit. Only what goes
 * through plainly is done here; whatever is known already, refused, stale or at fault is left to be performed alone, where
 * each of these has its place. So a fault in one never costs another anything but time.
 */
import { gather, type Tx } from '../../platform/index.js';
import type { JsonValue } from '../../protocol/index.js';
import { appendAudits } from '../audit/index.js';
import { effectFact, noteFacts } from '../fact/index.js';
import { mintFrom } from '../new-id.js';
import { foundationChannels } from '../parts.js';
import type { AuthorizationDecision, PreparedEffect, TransactionalEffectAdapter } from '../ports.js';
import { appendRunEvents, runChannel } from '../run-event/index.js';
import { holdProposer } from './authorize-effect.js';
import { type EffectGateway, mintEffectIds } from './effect-gateway.js';
import { boundResult, type IdentifiedProposal } from './effect-identity.js';
import type { ActionProposal, EffectRecord } from './effect-record.js';
import { auditOfSettled, settledEvent } from './settle-effect.js';
import { type Hold, insertSucceeded, knownProposals } from './store.js';

export interface SharedCommits {
  /** The settled effect, or undefined when it has to be performed alone. */
  join(identified: IdentifiedProposal): Promise<EffectRecord | undefined>;
}

type Together = NonNullable<TransactionalEffectAdapter['together']>;

const atOnce = 50;

export function shareCommits(gateway: EffectGateway): SharedCommits {
  type Join = (identified: IdentifiedProposal) => Promise<EffectRecord | undefined>;
  // One for each adapter there is.
  const joins = new Map<Together, Join>();

  function joinOf(together: Together): Join {
    const known = joins.get(together);
    if (known) return known;
    const join = gather({
      atOnce,
      work: (proposals: readonly IdentifiedProposal[]) => commitOrNone(gateway, together, proposals),
    });
    joins.set(together, join);
    return join;
  }

  return {
    async join(identified) {
      const together = sharingOf(gateway, identified.proposal);
      return together && joinOf(together)(identified);
    },
  };
}

/** A fault is not lost: who was in it meets it alone, or finds that the commit has happened. */
async function commitOrNone(
  gateway: EffectGateway,
  together: Together,
  proposals: readonly IdentifiedProposal[],
): Promise<(EffectRecord | undefined)[]> {
  const effects = await commitTogether(gateway, together, proposals).catch(() => undefined);
  return proposals.map((each) => effects?.get(each));
}

function sharingOf({ adapters }: EffectGateway, proposal: ActionProposal): Together | undefined {
  const adapter = adapters.forAction(proposal.action);
  if (adapter?.kind !== 'transactional' || !adapter.together) return undefined;
  return adapter.check(proposal).ok ? adapter.together : undefined;
}

interface Member {
  identified: IdentifiedProposal;
  ids: { effectId: string; operationId: string };
  prepared: PreparedEffect;
}

async function commitTogether(
  gateway: EffectGateway,
  together: Together,
  proposals: readonly IdentifiedProposal[],
): Promise<ReadonlyMap<IdentifiedProposal, EffectRecord>> {
  const { sql } = gateway.db;
  const known = await knownProposals(
    sql,
    proposals.map(({ proposal }) => ({ ...proposal, home: proposal.actor.home })),
  );
  // Asked before anything is signed in the actor's name, and again under the locks of the commit.
  const fresh = await allowed(
    gateway,
    sql,
    proposals.filter((_, place) => !known.has(place)),
  );
  const members = await prepare(
    gateway,
    together,
    fresh.map(({ identified }) => identified),
  );
  if (members.length === 0) return new Map();
  const wake = new Set<string>();
  const effects = await gateway.db.transact('effect-commit', (tx) =>
    commitIn(gateway, tx, { together, members, wake }),
  );
  for (const channel of wake) gateway.wakeups.wake(channel);
  for (const { identified, prepared } of members) {
    for (const channel of prepared.wake) gateway.wakeups.wake(channel);
    if (identified.proposal.run) gateway.wakeups.wake(runChannel(identified.proposal.run.runId));
  }
  return effects;
}

interface Allowed {
  identified: IdentifiedProposal;
  decision: AuthorizationDecision;
}

async function allowed(
  { authority }: EffectGateway,
  sql: Parameters<EffectGateway['authority']['authorize']>[0],
  proposals: readonly IdentifiedProposal[],
): Promise<Allowed[]> {
  const asked = proposals.map(({ proposal }) => proposal);
  const decisions = authority.authorizeAll
    ? await authority.authorizeAll(sql, asked)
    : await Promise.all(asked.map((proposal) => authority.authorize(sql, proposal)));
  return proposals.flatMap((identified, place) => {
    const decision = decisions[place];
    return decision?.allowed ? [{ identified, decision }] : [];
  });
}

async function prepare(
  gateway: EffectGateway,
  together: Together,
  proposals: readonly IdentifiedProposal[],
): Promise<Member[]> {
  const given = proposals.map((identified) => ({
    identified,
    ids: mintEffectIds(gateway, identified.proposal.actor.home),
  }));
  const prepared = await together.prepare(
    given.map(({ identified, ids }) => ({ proposal: identified.proposal, effectId: ids.effectId })),
  );
  return given.flatMap((each, place) => {
    const own = prepared[place];
    return own ? [{ ...each, prepared: own }] : [];
  });
}

type Committing = { together: Together; members: readonly Member[]; wake: Set<string> };
type Permitted = Member & { hold: Hold; decision: AuthorizationDecision };

async function commitIn(
  gateway: EffectGateway,
  tx: Tx,
  { together, members, wake }: Committing,
): Promise<ReadonlyMap<IdentifiedProposal, EffectRecord>> {
  const permitted = await permit(gateway, tx, members);
  const results = await together.commit(
    tx,
    permitted.map(({ prepared }) => prepared),
  );
  const done = permitted.flatMap((member, place) => {
    const own = results[place];
    return own ? [{ ...member, result: boundResult(own.result) }] : [];
  });
  const records = await insertSucceeded(tx, done);
  // Another process was first with one of them: what was written for it has to go, and all of it is one commit.
  if (records.length !== done.length) throw new Error('a proposal got a record while it was being committed');
  await appendAudits(
    tx,
    records.map((effect) => auditOfSettled(effect, effect.actorId)),
  );
  if (await noteSettled(gateway, tx, records)) wake.add(foundationChannels.inputs);
  return tellRuns(tx, done, records);
}

/** F25: one look for each tenant where nobody waits for an effect. */
async function noteSettled(gateway: EffectGateway, tx: Tx, records: readonly EffectRecord[]): Promise<boolean> {
  let noted = false;
  for (const tenant of new Set(records.map((effect) => effect.tenant))) {
    const facts = records.flatMap((effect) => (effect.tenant === tenant ? (effectFact(effect) ?? []) : []));
    noted =
      (await noteFacts(
        tx,
        facts.map((fact) => ({ ...fact, ids: mintFrom(gateway) })),
      )) || noted;
  }
  return noted;
}

/** Locks placement and run of each proposer, then asks the Authority; who is refused is left out. */
async function permit(gateway: EffectGateway, tx: Tx, members: readonly Member[]): Promise<Permitted[]> {
  const held = new Map<IdentifiedProposal, { member: Member; hold: Hold }>();
  for (const member of members) {
    const hold = await holdProposer(gateway, tx, member.identified.proposal);
    if (typeof hold !== 'string') held.set(member.identified, { member, hold });
  }
  const decided = await allowed(gateway, tx, [...held.keys()]);
  return decided.flatMap(({ identified, decision }) => {
    const own = held.get(identified);
    return own ? [{ ...own.member, hold: own.hold, decision }] : [];
  });
}

async function tellRuns(
  tx: Tx,
  done: readonly (Permitted & { result: JsonValue })[],
  records: readonly EffectRecord[],
): Promise<ReadonlyMap<IdentifiedProposal, EffectRecord>> {
  const byId = new Map(records.map((effect) => [effect.effectId, effect]));
  const effects = new Map<IdentifiedProposal, EffectRecord>();
  for (const { identified, ids } of done) {
    const effect = byId.get(ids.effectId);
    if (!effect) throw new Error('an effect was written and cannot be read');
    const { run, actor } = identified.proposal;
    if (run) await appendRunEvents(tx, { home: actor.home, runId: run.runId, events: [settledEvent(effect)] });
    effects.set(identified, effect);
  }
  return effects;
}
