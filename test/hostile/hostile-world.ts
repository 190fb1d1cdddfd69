// A running domain with one honest and one hostile peer, both pinned, and what every attack is judged by: the answer, the
// rows that are left, and a good message that still arrives.
import { request as httpRequest } from 'node:http';
import { expect } from 'vitest';
import { type Clock, systemClock } from '../../src/platform/index.js';
import {
  canonicalize,
  type Domain,
  parseTransactionAnswer,
  type TransactionResult,
  type WireEnvelope,
} from '../../src/protocol/index.js';
import {
  certify,
  domainNamed,
  frameOf,
  type HostileAgent,
  type HostilePeer,
  messageIdOf,
  openHostilePeer,
  type SealHostile,
  type SignHostile,
  sealHostile,
  signHostile,
  type WireRequest,
} from '../support/hostile-peer.js';
import { startTestDomain, type TestDomain } from '../support/test-domain.js';
import { makeDial } from './dialled.js';

export const bob = 'agent://alpha.test/agents/bob';
export const hana = 'human://alpha.test/users/hana';
export const alpha: Domain = domainNamed('alpha.test');

export interface HostileWorld {
  domain: TestDomain;
  friend: HostilePeer;
  evil: HostilePeer;
  /** Resolvable, and pinned by nobody. */
  stranger: HostilePeer;
  /** One agent of each peer. */
  kim: HostileAgent;
  eve: HostileAgent;
  sid: HostileAgent;
  /** Moves the time of the domain and of its peers. */
  dial(ms: number): Promise<void>;
  close(): Promise<void>;
}

export async function openHostileWorld(env: Record<string, string> = {}): Promise<HostileWorld> {
  let clock: Clock | undefined;
  const now = () => clock?.now() ?? systemClock().now();
  const [friend, evil, stranger] = await Promise.all(
    ['friend.test', 'evil.test', 'stranger.test'].map((name) => openHostilePeer(name, now)),
  );
  if (!friend || !evil || !stranger) throw new Error('three peers are needed');
  const peers = [friend, evil, stranger];
  const resolve = peers.map((peer) => `${peer.domain}=${peer.origin}`).join(',');
  const domain = await startTestDomain({ env: { HEARTH_RESOLVE: resolve, ...env } });
  clock = domain.running.layers.gateway.clock;
  const dial = await makeDial(domain.test.database, clock);
  for (const peer of [friend, evil]) {
    const pinned = await domain.api('POST', '/admin/v1/peers', {
      body: { domain: peer.domain, fingerprint: peer.fingerprint },
    });
    expect(pinned.body).toMatchObject({ look: { ok: true } });
    expect(pinned.body.look).toEqual({ ok: true });
  }
  await domain.api('POST', '/admin/v1/humans', { body: { name: 'hana' } });
  const created = await domain.api('POST', '/admin/v1/agents', {
    body: { name: 'bob', owner: 'hana', runtime: { id: 'scripted', config: { rules: [] } } },
  });
  expect(created.status).toBe(201);
  return {
    domain,
    friend,
    evil,
    stranger,
    kim: friend.agent('kim'),
    eve: evil.agent('eve'),
    sid: stranger.agent('sid'),
    dial: dial.by,
    async close() {
      await domain.stop();
      await Promise.all(peers.map((peer) => peer.close()));
    },
  };
}

export interface DoorAnswer {
  status: number;
  code: string | undefined;
  body: Record<string, unknown>;
  results: readonly TransactionResult[];
}

/** Sends a request exactly as it stands to the federation door. */
export function knock(world: HostileWorld, { method, path, headers, body }: WireRequest): Promise<DoorAnswer> {
  const { federation } = world.domain.running.urls;
  return new Promise((resolve, reject) => {
    // A connection of its own: one that was open before would show nothing of a door that lets nobody in.
    const request = httpRequest(`${federation}${path}`, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve(readAnswer(response.statusCode ?? 0, Buffer.concat(chunks))));
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}

function readAnswer(status: number, bytes: Buffer): DoorAnswer {
  if (status === 200) return { status, code: undefined, body: {}, results: parseTransactionAnswer(bytes).results };
  const body = JSON.parse(bytes.toString()) as Record<string, unknown>;
  return { status, code: String(body.code), body, results: [] };
}

export interface Delivery extends Partial<SignHostile> {
  peer: HostilePeer;
  agents?: readonly HostileAgent[];
  certificates?: readonly unknown[];
  envelopes: readonly unknown[];
  frame?: Record<string, unknown>;
}

/** One transaction of a peer, with certificates of its agents unless others are given. */
export async function deliver(world: HostileWorld, delivery: Delivery): Promise<DoorAnswer> {
  return knock(world, await signDelivery(world, delivery));
}

export async function signDelivery(
  world: HostileWorld,
  { peer, agents = [world.kim, world.eve, world.sid], certificates, envelopes, frame = {}, ...sign }: Delivery,
): Promise<WireRequest> {
  const own = agents.filter(({ address }) => address.startsWith(`agent://${peer.domain}/`));
  const held = certificates ?? (await Promise.all(own.map((agent) => certify(peer, { agent }))));
  const body = frameOf(peer, alpha, { certificates: held, envelopes, ...frame });
  return signHostile(peer, { to: alpha, body, ...sign });
}

export const fromEve = (world: HostileWorld, more: Partial<SealHostile> = {}) =>
  sealHostile(world.evil, { from: world.eve, to: [bob], ...more });

/** An honest message of the honest peer to a person; it has to be in the mailbox when this returns. */
export async function goodMessageArrives(world: HostileWorld): Promise<void> {
  const envelope = await sealHostile(world.friend, { from: world.kim, to: [hana] });
  const { status, results } = await deliver(world, { peer: world.friend, envelopes: [envelope] });
  expect([status, results[0]?.result]).toEqual([200, 'accepted']);
  expect(await storedMessages(world, messageIdOf(envelope))).toBe(1);
}

export async function storedMessages({ domain }: HostileWorld, messageId: string): Promise<number> {
  const rows = await domain.test.database.sql`
    select 1 from home.mailbox_messages where message_id = ${messageId} and direction = 'in'`;
  return rows.length;
}

/** How many rows each table has. */
async function countRows({ test }: TestDomain): Promise<Record<string, number>> {
  const rows = await test.database.sql<{ name: string; rows: number }[]>`
    select schemaname || '.' || tablename as name,
           (xpath('//n/text()', query_to_xml(format('select count(*) as n from %I.%I', schemaname, tablename),
                                             true, true, '')))[1]::text::int as rows
      from pg_tables
     where schemaname in ('foundation', 'home', 'federation')
     order by 1`;
  return Object.fromEntries(rows.map(({ name, rows }) => [name, rows]));
}

/** No input is still on its way and no run in work, so that counts change by an attack alone. */
async function untilQuiet({ test }: TestDomain): Promise<void> {
  const busy = async () => {
    const [row] = await test.database.sql<{ busy: boolean }[]>`
      select exists (select 1 from foundation.inputs where position is null)
          or exists (select 1 from foundation.input_log_heads where resolved_position < position)
          or exists (select 1 from foundation.candidates where status in ('queued', 'running'))
          or exists (select 1 from foundation.runs where ended_at is null) as busy`;
    return row?.busy;
  };
  await expect.poll(busy, { timeout: 15_000, interval: 20 }).toBe(false);
}

/** What an attack left behind: only tables whose count changed. */
export async function rowsLeftBy(domain: TestDomain, attack: () => Promise<unknown>): Promise<Record<string, number>> {
  await untilQuiet(domain);
  const before = await countRows(domain);
  await attack();
  await untilQuiet(domain);
  const after = await countRows(domain);
  const changed = Object.entries(after).filter(([name, rows]) => rows !== before[name]);
  return Object.fromEntries(changed.map(([name, rows]) => [name, rows - (before[name] ?? 0)]));
}

/** A refusal that helps: a problem document with a code and what to do. */
export function expectProblem(answer: DoorAnswer): void {
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.status).toBeLessThan(500);
  expect(answer.body).toMatchObject({
    status: answer.status,
    code: expect.stringMatching(/^[a-z_]+$/),
    title: expect.any(String),
    action: expect.any(String),
    request_id: expect.stringMatching(/^req_/),
  });
}

/** A whole request refused with this code, in words for who has proved itself, and nothing of it kept. */
export async function expectRefusal(
  world: HostileWorld,
  request: WireRequest,
  { status, code, component }: { status: number; code: string; component: string | undefined },
): Promise<void> {
  const left = await rowsLeftBy(world.domain, async () => {
    const answer = await knock(world, request);
    expect([answer.status, answer.code]).toEqual([status, code]);
    if (component !== undefined) expect(answer.body.component).toBe(component);
    expectProblem(answer);
    if (status === 401) expect(answer.body.detail).toBeUndefined();
  });
  expect(left).toEqual({});
}

/** The code of each result that has one, else what it says. */
export function codesOf(results: readonly { code?: string | undefined; result: string }[]): string[] {
  return results.map(({ code, result }) => code ?? result);
}

/** The header changed after it was signed. */
export function rewritten(envelope: WireEnvelope, change: (header: Record<string, unknown>) => void): WireEnvelope {
  const header = JSON.parse(envelope.header);
  change(header);
  return { ...envelope, header: canonicalize(header) };
}
