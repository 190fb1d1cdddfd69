// Wrong servers, seen by what they decide about messages and by whom they tell what.
import {
  accepted,
  acceptsItems,
  answers,
  isTransaction,
  jsonIn,
  type Mutant,
  results,
  takes,
  withJson,
} from './mutant.js';

const at = 'federation';

const deciding: Mutant[] = [
  {
    name: 'every repeat is answered anew',
    scenario: 'transactions',
    caughtBy: ['DELIVERY-4', 'DELIVERY-5'],
    at,
    make: () => {
      let answered = 0;
      return async (request, forward) => {
        const reply = await forward(request);
        answered += 1;
        return isTransaction(request) && reply.status === 200 ? withJson(reply, { ...jsonIn(reply), answered }) : reply;
      };
    },
  },
  {
    name: 'an id may be used for another body',
    scenario: 'transactions',
    caughtBy: ['DELIVERY-6'],
    at,
    make: takes({ code: 'transaction_conflict' }),
  },
  {
    name: 'batches of any size are taken',
    scenario: 'transactions',
    caughtBy: ['DELIVERY-3'],
    at,
    make: takes({ code: 'too_large' }),
  },
  {
    name: 'one bad item spoils the batch',
    scenario: 'transactions',
    caughtBy: ['DELIVERY-11'],
    at,
    make: results((result, all) =>
      all.some(({ code }) => code === 'signature_invalid')
        ? {
            message_id: result.message_id ?? '',
            recipient: result.recipient ?? '',
            result: 'rejected',
            code: 'internal',
          }
        : result,
    ),
  },
  {
    name: 'a duplicate gets a receipt of its own',
    scenario: 'transactions',
    caughtBy: ['RECEIPTS-8'],
    at,
    make: results((result) => (result.result === 'duplicate' ? { ...accepted(result), result: 'duplicate' } : result)),
  },
  {
    name: 'a duplicate is accepted again',
    scenario: 'transactions',
    caughtBy: ['DELIVERY-14'],
    at,
    make: results((result) => (result.result === 'duplicate' ? accepted(result) : result)),
  },
  {
    name: 'message ids may be used again',
    scenario: 'transactions',
    caughtBy: ['DELIVERY-15'],
    at,
    make: acceptsItems('message_id_reuse'),
  },
  {
    name: 'the answer tells who does not exist',
    scenario: 'transactions',
    caughtBy: ['DELIVERY-23'],
    at,
    make: results((result) =>
      result.code === 'recipient_unavailable' ? { ...result, code: 'recipient_unknown' } : result,
    ),
  },
  {
    name: 'the receipt is not over the results',
    scenario: 'transactions',
    caughtBy: ['RECEIPTS-6'],
    at,
    make: results((result) => ({ ...result, note: 'more than the receipt says' })),
  },
  {
    name: 'the receipt is signed by nobody',
    scenario: 'transactions',
    caughtBy: ['RECEIPTS-2'],
    at,
    make: answers(
      (request, { status }) => isTransaction(request) && status === 200,
      (reply) =>
        withJson(reply, {
          ...jsonIn(reply),
          receipt: String(jsonIn(reply).receipt).replace(/[^.]{86}$/, 'A'.repeat(86)),
        }),
    ),
  },
  {
    name: 'strangers are told who exists',
    scenario: 'strangers',
    caughtBy: ['DELIVERY-20'],
    at,
    make: results((result) =>
      result.result === 'parked' && String(result.recipient).endsWith('nobody')
        ? { ...result, result: 'rejected', code: 'recipient_unavailable' }
        : result,
    ),
  },
  {
    name: 'too many requests, and no word of when',
    scenario: 'strangers',
    caughtBy: ['REQUESTS-18'],
    at,
    make: answers(
      (_, { status }) => status === 429,
      (reply) => ({ ...reply, fields: reply.fields.filter(([name]) => name.toLowerCase() !== 'retry-after') }),
    ),
  },
  {
    name: 'envelopes are not verified',
    scenario: 'envelopes',
    caughtBy: ['ENVELOPE-2', 'ENVELOPE-4', 'ENVELOPE-7', 'ENVELOPE-9', 'ENVELOPE-12', 'ENVELOPE-13', 'ENVELOPE-14'],
    at,
    make: acceptsItems(
      'envelope_not_canonical',
      'signature_invalid',
      'body_digest_mismatch',
      'sender_mismatch',
      'issued_in_future',
      'expired',
      'lifetime_too_long',
    ),
  },
  ...itemMutants(),
];

function itemMutants(): Mutant[] {
  const codes: [scenario: string, id: string, code: string][] = [
    ['certificates', 'KEYS-32', 'certificate_missing'],
    ['interactions', 'INTERACTIONS-4', 'interaction_unsupported'],
    ['interactions', 'INTERACTIONS-11', 'mint_foreign_domain'],
    ['promising', 'COMMITMENTS-6', 'commitment_wrong_digest'],
    ['promising', 'COMMITMENTS-10', 'commitment_wrong_party'],
  ];
  return codes.map(([scenario, id, code]) => ({
    name: `what is ${code} is accepted`,
    scenario,
    caughtBy: [id],
    at: 'federation',
    make: acceptsItems(code),
  }));
}

const hidden = {
  address: 'agent://alpha.test/agents/conformance-quiet',
  principal_id: 'prn_x',
  kind: 'agent',
  display_name: '',
};
const privacy: Mutant[] = [
  {
    name: 'everybody sees everybody',
    scenario: 'directory',
    caughtBy: ['DISCOVERY-14'],
    at,
    make: answers(
      ({ path, fields }) =>
        path.startsWith('/federation/v1/directory') && !fields.some(([name]) => name === 'signature'),
      (reply) => withJson(reply, { items: [hidden], next_cursor: null }),
    ),
  },
  {
    name: 'a bad signature is as good as none',
    scenario: 'directory',
    caughtBy: ['DISCOVERY-15'],
    at,
    make: answers(
      ({ path }, { status }) => path.startsWith('/federation/v1/directory') && status === 401,
      (reply) => ({ ...withJson(reply, { items: [], next_cursor: null }), status: 200 }),
    ),
  },
  {
    name: 'a log says that it is not for you',
    scenario: 'asking',
    caughtBy: ['COMMITMENTS-16'],
    at,
    make: answers(
      ({ path }, { status }) => path.includes('/transitions') && status === 404,
      (reply) => ({ ...withJson(reply, { ...jsonIn(reply), code: 'forbidden' }), status: 403 }),
    ),
  },
  {
    name: 'no challenge with 401',
    scenario: 'private-door',
    caughtBy: ['API-1'],
    at: 'private',
    make: answers(
      (_, { status }) => status === 401,
      (reply) => ({ ...reply, fields: reply.fields.filter(([name]) => name.toLowerCase() !== 'www-authenticate') }),
    ),
  },
  {
    name: "the caller's request id is taken",
    scenario: 'private-door',
    caughtBy: ['API-5'],
    at: 'private',
    make: answers(
      ({ fields }) => fields.some(([name]) => name === 'x-request-id'),
      (reply) => ({
        ...reply,
        fields: [...reply.fields.filter(([name]) => name.toLowerCase() !== 'x-request-id'), ['x-request-id', 'mine']],
      }),
    ),
  },
  {
    name: 'a page loses its last row',
    scenario: 'private-door',
    caughtBy: ['API-16'],
    at: 'private',
    make: answers(
      ({ path }) => path.includes('cursor='),
      (reply) => withJson(reply, { ...jsonIn(reply), items: [] }),
    ),
  },
];

export const decisionMutants: readonly Mutant[] = [...deciding, ...privacy];
