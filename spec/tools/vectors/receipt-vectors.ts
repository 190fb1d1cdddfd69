// Receipts of beta.test, read with its bundle.
import { digestOf, mintId, type Receipt, sealReceipt, toUtf8 } from '../../../src/protocol/index.js';
import {
  ALPHA,
  ASKER,
  BETA,
  betaBundle,
  bundleKey,
  instant,
  KEYS,
  mint,
  type NamedKey,
  TRANSACTION,
  WORKER,
} from '../world.js';
import { invalid, payloadOf, type VectorFile, valid } from './vector-file.js';

const common = {
  receipt_id: mintId('rcpt', WORKER.home, mint('receipt')),
  subject_digest: digestOf(toUtf8('the exact body')),
  issuer: BETA,
  observed_at: instant(-1000),
  detail: '',
};
const messageId = mintId('msg', ASKER.home, mint('receipts'));
const overBatch: Receipt = {
  ...common,
  type: 'transaction-receipt',
  subject_ref: TRANSACTION,
  code: 'processed',
  transaction_id: TRANSACTION,
  origin: ALPHA,
  destination: BETA,
  incarnation: 'inc_vector',
  results: [{ message_id: messageId, recipient: WORKER.address, result: 'accepted', receipt_id: common.receipt_id }],
};
const ofMessage: Receipt = {
  ...common,
  type: 'delivery.accepted',
  subject_ref: messageId,
  code: 'stored',
  recipient: WORKER.address,
};

const bundles = {
  plain: betaBundle(),
  retired: {
    ...betaBundle(),
    keys: [bundleKey(KEYS.alphaNext)],
    retired_keys: [{ ...bundleKey(KEYS.beta), expired_at: instant(-500) }],
  },
  revoked: {
    ...betaBundle(),
    keys: [bundleKey(KEYS.alphaNext)],
    revoked: [{ subject: KEYS.beta.kid, revoked_at: instant(), reason: '' }],
  },
};

type Options = { bundle?: keyof typeof bundles; signer?: NamedKey; now?: string };

async function of(receipt: Receipt, { bundle = 'plain', signer = KEYS.beta, now = instant() }: Options = {}) {
  const token = await sealReceipt(receipt, signer.kid, signer.sign);
  return { bundle, now, token, payload: payloadOf(token) };
}

export async function receiptVectors(): Promise<VectorFile> {
  const good = async (name: string, receipt: Receipt, options?: Options) =>
    valid(name, { ...(await of(receipt, options)), expect: { receipt_id: receipt.receipt_id, type: receipt.type } });
  const bad = async (name: string, receipt: Receipt, options?: Options) =>
    invalid(name, 'receipt_invalid', await of(receipt, options));
  const plain = await of(overBatch);
  return {
    about: 'Receipts, read against the named bundle of beta.test.',
    context: { bundles },
    vectors: [
      await good('a transaction receipt', overBatch),
      await good('a receipt for one message', ofMessage),
      await good('observed 300 s ahead', { ...ofMessage, observed_at: instant(300_000) }),
      await good('BR-04 observed before its key retired', ofMessage, { bundle: 'retired' }),
      await bad(
        'BR-04 observed after its key retired',
        { ...ofMessage, observed_at: instant(-500) },
        { bundle: 'retired' },
      ),
      await bad('BR-04 its key is revoked', ofMessage, { bundle: 'revoked' }),
      await bad('observed more than 300 s ahead', { ...ofMessage, observed_at: instant(300_001) }),
      await bad('another issuer', { ...ofMessage, issuer: ALPHA }),
      await bad('signed by a stranger', ofMessage, { signer: KEYS.stranger }),
      invalid('a changed result', 'receipt_invalid', { ...plain, token: changed(plain.token) }),
      invalid('an unknown type', 'receipt_invalid', {
        ...plain,
        token: await forged({ ...ofMessage, type: 'delivery.maybe' }),
      }),
      invalid('no subject digest', 'receipt_invalid', {
        ...plain,
        token: await forged({ ...ofMessage, subject_digest: undefined }),
      }),
    ].map(withOwnPayload),
  };
}

/** `payload` shows what the token of the vector itself says. */
function withOwnPayload<Made extends { [member: string]: unknown }>(vector: Made): Made {
  return { ...vector, payload: payloadOf(String(vector.token)) };
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

async function forged(payload: unknown): Promise<string> {
  const input = `${encode({ alg: 'Ed25519', kid: KEYS.beta.kid, typ: 'receipt+jwt' })}.${encode(payload)}`;
  return `${input}.${Buffer.from(await KEYS.beta.sign(toUtf8(input))).toString('base64url')}`;
}

function changed(token: string): string {
  const [header, payload = '', signature] = token.split('.');
  const text = Buffer.from(payload, 'base64url').toString('utf8').replace('"accepted"', '"rejected"');
  return [header, Buffer.from(text).toString('base64url'), signature].join('.');
}
