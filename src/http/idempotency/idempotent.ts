/**
 * `Idempotency-Key` on every POST of the private door: the same key and body again get the same stored answer, for 24
 * hours, per caller (principal and kind of credential) and path.
 *
 * `together`: the handler runs on one transaction, in which its own transactions are savepoints; claim, act and answer are
 * one commit, and who waits is woken after it. A crash before it leaves nothing, one after it leaves the answer.
 * `derived`: the act leaves the database, so the claim is committed first and the act's ids follow from the key (a message's
 * proposal) or from what it names (a peer). A crash leaves the claim; once that has run out a repeat acts again and finds
 * what the first did.
 * A refused request has done nothing and its key is free again. Answers may hold tokens, so they rest sealed.
 */
import type { Database, Tx, Wakeups } from '../../platform/index.js';
import { digestOf, fromUtf8, Problem, toUtf8 } from '../../protocol/index.js';
import { callerOf, type DoorContext, type Endpoint } from '../endpoint.js';
import { readBody } from '../middleware/body.js';
import { claimKey, countKeys, type KeyPlace, readKey, releaseKey, saveAnswer, tryLockKey } from './store.js';

export interface DoorParts {
  db: Database;
  wakeups: Wakeups;
}

export interface Idempotency extends DoorParts {
  custody: {
    sealSecret(label: string, secret: Uint8Array): Uint8Array;
    openSecret(label: string, sealed: Uint8Array): Uint8Array;
  };
  /** The same endpoints over other parts. */
  over(parts: DoorParts): Endpoint[];
}

const idempotencyLimits = {
  keyChars: 255,
  /** Keys remembered for one principal; above it requests with new keys are refused. */
  perPrincipal: 10_000,
  memoryMs: 24 * 3_600_000,
  /** How long a request whose act leaves the database may take, before its process is taken for dead. */
  claimMs: 60_000,
} as const;

const keyShape = /^[\x20-\x7e]{1,255}$/;

interface Keyed extends KeyPlace {
  bodyDigest: string;
}

export function idempotent(deps: Idempotency, endpoint: Endpoint): Endpoint {
  if (endpoint.method !== 'POST') return endpoint;
  return {
    ...endpoint,
    async handle(ctx) {
      if (ctx.req.headers['idempotency-key'] === undefined) return endpoint.handle(ctx);
      const keyed = await keyedRequest(ctx);
      if (endpoint.repeats === 'derived') await actApart(deps, keyed, { ctx, endpoint });
      else await actTogether(deps, keyed, { ctx, endpoint });
    },
  };
}

async function keyedRequest(ctx: DoorContext): Promise<Keyed> {
  const key = ctx.get('Idempotency-Key');
  if (!keyShape.test(key)) throw new Problem('schema_invalid', 'Idempotency-Key: 1 to 255 printable ASCII characters');
  const { home, kind } = callerOf(ctx);
  ctx.state.body = await readBody(ctx);
  return {
    home,
    keyDigest: digestOf(toUtf8(JSON.stringify([kind, ctx.method, ctx.path, key]))),
    bodyDigest: digestOf(ctx.state.body),
  };
}

interface Act {
  ctx: DoorContext;
  endpoint: Endpoint;
}

async function actTogether(deps: Idempotency, keyed: Keyed, { ctx, endpoint }: Act): Promise<void> {
  const woken = new Set<string>();
  await deps.db.transact(`idempotent ${endpoint.path}`, async (tx) => {
    if (await answeredBefore(deps, keyed, { ctx, tx })) return;
    const wakeups: Wakeups = { ...deps.wakeups, wake: (channel) => void woken.add(channel) };
    const db: Database = { ...deps.db, sql: tx, transact: (_, work) => tx.savepoint(work) };
    const joined = deps.over({ db, wakeups }).find(({ method, path }) => method === 'POST' && path === endpoint.path);
    if (!joined) throw new Error(`there is no ${endpoint.path} over other parts`);
    await joined.handle(ctx);
    await saveAnswer(tx, { ...keyed, ...answerOf(deps, keyed, ctx), memoryMs: idempotencyLimits.memoryMs });
  });
  for (const channel of woken) deps.wakeups.wake(channel);
}

async function actApart(deps: Idempotency, keyed: Keyed, { ctx, endpoint }: Act): Promise<void> {
  const { memoryMs, claimMs } = idempotencyLimits;
  const answered = await deps.db.transact('claim idempotency key', async (tx) => {
    if (await answeredBefore(deps, keyed, { ctx, tx })) return true;
    await claimKey(tx, { ...keyed, memoryMs, claimMs });
    return false;
  });
  if (answered) return;
  try {
    await endpoint.handle(ctx);
  } catch (error) {
    await deps.db.transact('release idempotency key', (tx) => releaseKey(tx, keyed));
    throw error;
  }
  const answer = answerOf(deps, keyed, ctx);
  await deps.db.transact('keep answer', (tx) => saveAnswer(tx, { ...keyed, ...answer, memoryMs }));
}

/** True when the stored answer was given again. The key is locked until the transaction ends, and there is room for it. */
async function answeredBefore(
  deps: Idempotency,
  keyed: Keyed,
  { ctx, tx }: { ctx: DoorContext; tx: Tx },
): Promise<boolean> {
  if (!(await tryLockKey(tx, keyed))) throw inProgress();
  const known = await readKey(tx, keyed);
  if (known && known.bodyDigest !== keyed.bodyDigest) {
    throw new Problem('idempotency_conflict', 'the key was used with another body');
  }
  if (known?.claimed) throw inProgress();
  if (known && known.answer !== null && known.status !== null) {
    giveAgain(ctx, known.status, deps.custody.openSecret(keyed.keyDigest, known.answer));
    return true;
  }
  const live = known ? 0 : await countKeys(tx, { home: keyed.home, limit: idempotencyLimits.perPrincipal });
  if (live >= idempotencyLimits.perPrincipal) {
    throw new Problem('rate_limited', `${idempotencyLimits.perPrincipal} idempotency keys are remembered already`, {
      extra: { retry_after_s: 60 },
    });
  }
  return false;
}

function inProgress(): Problem {
  return new Problem('idempotency_in_progress', 'the first request is still in work', { extra: { retry_after_s: 1 } });
}

/** What was answered, as it will be given again; sealed under the key that it belongs to. */
function answerOf(deps: Idempotency, { keyDigest }: Keyed, ctx: DoorContext): { status: number; answer: Uint8Array } {
  const answer = toUtf8(ctx.body === undefined || ctx.body === null ? '' : JSON.stringify(ctx.body));
  return { status: ctx.status, answer: deps.custody.sealSecret(keyDigest, answer) };
}

function giveAgain(ctx: DoorContext, status: number, answer: Uint8Array): void {
  const text = fromUtf8(answer) ?? '';
  ctx.status = status;
  if (text !== '') ctx.body = JSON.parse(text);
  ctx.set('Idempotency-Replayed', 'true');
}
