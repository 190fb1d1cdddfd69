// What holds of an envelope that the target sent, and of the certificates that came along.
import { found, holds, same } from '../expect.js';
import type { ArrivedEnvelope, ArrivedTransaction } from '../peer/arrivals.js';
import type { Checks } from '../scenario.js';
import type { Stage } from '../stage.js';
import { canonicalJson } from '../wire/canonical-json.js';
import { fromBase64url, isInstant, signingBytes } from '../wire/encoding.js';
import { isId } from '../wire/ids.js';
import { listOf, memberOf, parseJson, textOf } from '../wire/json.js';
import { jwsFault, type ReadJws, readCompactJws } from '../wire/jws.js';
import { verifies } from '../wire/keys.js';

export function certificatesIn(frame: unknown): ReadJws[] {
  return listOf(frame, 'certificates').flatMap((token) => readCompactJws(String(token)) ?? []);
}

export async function judgeCertificates(
  target: Stage['target'],
  check: Checks['check'],
  certificates: readonly ReadJws[],
): Promise<void> {
  const each = (judge: (jws: ReadJws, claims: unknown) => void) => () => {
    holds(certificates.length > 0, 'there is none');
    for (const jws of certificates) judge(jws, jws.payload);
  };
  await check(
    'KEYS-7',
    'alg, typ and kid are those of a certificate',
    each((jws) => {
      same(`${textOf(jws.header, 'alg')} ${textOf(jws.header, 'typ')}`, 'Ed25519 agent-key+jwt', 'alg and typ');
      holds(textOf(jws.header, 'kid') !== '', 'kid is missing');
    }),
  );
  await check(
    'KEYS-30',
    'every claim is there, in 4 KiB',
    each((jws, claims) => {
      for (const name of ['iss', 'sub', 'principal_id', 'kid'])
        holds(textOf(claims, name) !== '', `${name} is missing`);
      for (const name of ['key_nbf', 'key_exp', 'iat', 'exp'])
        holds(Number.isInteger(memberOf(claims, name)), `${name} is missing`);
      same(textOf(claims, 'cnf', 'jwk', 'crv'), 'Ed25519', 'the curve of cnf.jwk');
      holds(jws.input.length + 87 <= 4_096, 'it is too long');
    }),
  );
  await judgeSubjects(target, check, each);
}

type Each = (judge: (jws: ReadJws, claims: unknown) => void) => () => void;

async function judgeSubjects(target: Stage['target'], check: Checks['check'], each: Each): Promise<void> {
  await check(
    'KEYS-31',
    'iss is the target, sub is of it and kid is of sub',
    each((_, claims) => {
      same(textOf(claims, 'iss'), target.domain, 'iss');
      const path = /^[a-z]+:\/\/(.+)$/.exec(textOf(claims, 'sub'))?.[1] ?? '';
      holds(path.startsWith(`${target.domain}/`), `sub is ${textOf(claims, 'sub')}`);
      holds(
        textOf(claims, 'kid').startsWith(`key://${path.replace(/^([^/]+)\/(?!agents|users)/, '$1/services/')}/`),
        'kid is of another',
      );
    }),
  );
  await check(
    'KEYS-32',
    'it is signed by a key of the bundle',
    each((jws) => same(jwsFault(jws, 'agent-key+jwt', target.keys), undefined, 'the fault')),
  );
  await check(
    'KEYS-33',
    'it is valid now, for a day at most',
    each((_, claims) => {
      const [iat, exp] = [Number(memberOf(claims, 'iat')), Number(memberOf(claims, 'exp'))];
      holds(iat <= Date.now() / 1000 + 300 && exp > Date.now() / 1000 && exp - iat <= 86_400, `iat ${iat}, exp ${exp}`);
    }),
  );
  await check(
    'NAMES-8',
    'its kid is a key reference',
    each((_, claims) =>
      holds(
        /^key:\/\/[^/]+\/(agents|users|services)\/[a-z0-9._-]+\/[1-9][0-9]{0,8}$/.test(textOf(claims, 'kid')),
        textOf(claims, 'kid'),
      ),
    ),
  );
}

export async function judgeEnvelope(
  { peer, target, operator }: Stage,
  { check }: Checks,
  { transaction, messageId }: { transaction: ArrivedTransaction; messageId: string },
): Promise<void> {
  const envelope = found(
    transaction.envelopes.find((each) => each.messageId === messageId),
    'the message is not in it',
  );
  const certificate = certificatesIn(transaction.frame).find(
    (jws) => textOf(jws.payload, 'kid') === textOf(envelope.header, 'key_id'),
  )?.payload;
  await judgeForm({ check }, { envelope, certificate });
  await judgeMeaning({ peer, target, operator }, { check }, { envelope, certificate });
}

interface Certified {
  readonly envelope: ArrivedEnvelope;
  readonly certificate: unknown;
}

async function judgeForm({ check }: Pick<Checks, 'check'>, { envelope, certificate }: Certified): Promise<void> {
  const { header, headerText, wire } = envelope;
  await check('ENVELOPE-1', 'it has header, signature and body, each a string', () =>
    same(
      Object.entries(Object(wire))
        .map(([name, value]) => `${name} ${typeof value}`)
        .sort()
        .join(),
      'body string,header string,signature string',
      'the envelope',
    ),
  );
  for (const id of ['ENVELOPE-2', 'ENCODING-7']) {
    await check(id, 'the header is canonical JSON', () =>
      same(headerText, canonicalJson(parseJson(headerText)), 'the header'),
    );
  }
  await check('ENVELOPE-3', 'it has every required member and none that is unknown', () => {
    for (const name of requiredMembers) holds(memberOf(header, name) !== undefined, `${name} is missing`);
    for (const name of Object.keys(Object(header)))
      holds([...requiredMembers, ...optionalMembers].includes(name), `${name} is unknown`);
  });
  for (const id of ['ENVELOPE-4', 'ENCODING-11']) {
    await check(id, 'the signature holds over the signing bytes of the header', () => {
      const [tag, text = ''] = textOf(wire, 'signature').split('.');
      same(tag, 'ed25519', 'what stands before it');
      const signature = found(fromBase64url(text), 'it is not base64url');
      holds(
        verifies(textOf(certificate, 'cnf', 'jwk', 'x'), signingBytes('envelope', headerText), signature),
        'it does not',
      );
    });
  }
  for (const id of ['ENVELOPE-7', 'ENCODING-9']) {
    await check(id, 'body_digest is the digest of the body', () =>
      same(textOf(header, 'body_digest'), envelope.bodyDigest, 'body_digest'),
    );
  }
}

type Parties = Pick<Stage, 'peer' | 'target' | 'operator'>;

async function judgeMeaning(
  { peer, target, operator }: Parties,
  { check }: Pick<Checks, 'check'>,
  { envelope: { header }, certificate }: Certified,
): Promise<void> {
  await check('ENVELOPE-9', 'the sender is of the target', () => {
    same(textOf(header, 'sender_domain'), target.domain, 'sender_domain');
    same(textOf(header, 'sender'), operator, 'sender');
  });
  await check('ENVELOPE-11', 'every recipient is of the domain it is sent to', () => {
    for (const to of listOf(header, 'to')) holds(String(to).startsWith(`agent://${peer.name}/`), String(to));
  });
  await check('ENVELOPE-14', 'it lives for seven days at most', () => {
    const ms = Date.parse(textOf(header, 'expires_at')) - Date.parse(textOf(header, 'issued_at'));
    holds(ms > 0 && ms <= 604_800_000, `it lives for ${ms} ms`);
  });
  await check('ENVELOPE-16', 'its certificate is of its sender, and its key was valid at issued_at', () => {
    same(textOf(certificate, 'sub'), textOf(header, 'sender'), 'sub');
    const at = Date.parse(textOf(header, 'issued_at')) / 1000;
    holds(
      Number(memberOf(certificate, 'key_nbf')) <= at && at < Number(memberOf(certificate, 'key_exp')),
      'it was not',
    );
  });
  await check('ENCODING-8', 'issued_at and expires_at are instants', () => {
    for (const name of ['issued_at', 'expires_at']) holds(isInstant(memberOf(header, name)), `${name} is none`);
  });
  await check('NAMES-12', 'its ids have their form', () => {
    holds(isId('msg', textOf(header, 'message_id')), textOf(header, 'message_id'));
    holds(isId('conv', textOf(header, 'conversation_id')), textOf(header, 'conversation_id'));
  });
  await check('NAMES-13', 'its conversation is minted in the name of the target', () =>
    holds(textOf(header, 'conversation_id').startsWith(`conv_${target.domain}_`), textOf(header, 'conversation_id')),
  );
}

const requiredMembers = [
  ...['message_id', 'sender', 'sender_domain', 'to', 'conversation_id', 'prev', 'interaction_type', 'issued_at'],
  ...['expires_at', 'body_digest', 'content_type', 'key_id'],
];
const optionalMembers = [
  ...['in_reply_to', 'correlation_id', 'causation_id', 'idempotency_key', 'body_ref'],
  ...['hop_chain', 'engagement', 'authority_digest'],
];
