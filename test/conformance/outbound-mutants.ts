// Wrong servers, seen by what they dial and send.
import { request as send } from 'node:http';
import { isObject, isTransaction, jsonIn, type Mutant, type MutantParts, withJson } from './mutant.js';
import type { Passing, Returning, Tamper } from './tampering-proxy.js';

const at = 'outbound';
const discoveryPath = '/.well-known/agent-federation';

/** Sends something else, and goes on as if all were well. */
function changed(change: (request: Passing) => Passing): Mutant['make'] {
  return ({ right }) =>
    async (request, forward) => {
      if (!isTransaction(request)) return forward(request);
      await forward(change(request));
      return right(request);
    };
}

function inEnvelopes(change: (header: string) => string): Mutant['make'] {
  return changed((request) => {
    const frame = jsonIn(request);
    const envelopes = (Array.isArray(frame.envelopes) ? frame.envelopes : []).map((envelope) =>
      isObject(envelope) ? { ...envelope, header: change(String(envelope.header)) } : envelope,
    );
    return { ...request, body: Buffer.from(JSON.stringify({ ...frame, envelopes })) };
  });
}

/** Signs once, when the message is queued, and sends that again and again without waiting. */
function impatient(): Tamper {
  const first = new Map<string, Passing>();
  return async (request, forward) => {
    if (!isTransaction(request)) return forward(request);
    const key = String(hostOf(request));
    const kept = first.get(key) ?? request;
    first.set(key, kept);
    const reply = await forward(kept);
    if (reply.status < 500) first.delete(key);
    return reply.status === 500 ? forward(kept) : reply;
  };
}

function hostOf({ fields }: Passing): string | undefined {
  return fields.find(([name]) => name.toLowerCase() === 'host')?.[1];
}

/** Comes again at once, whatever the peer asked for. */
function deaf(): Tamper {
  return async (request, forward) => {
    const reply = await forward(request);
    return isTransaction(request) && reply.status === 503 ? forward(request) : reply;
  };
}

/** Sends again what is parked. */
function insistent(): Tamper {
  return async (request, forward) => {
    const reply = await forward(request);
    if (isTransaction(request) && reply.body.includes('"parked"')) await forward(request);
    return reply;
  };
}

/** Asks for the moved document where it is now. */
function obedient(): Tamper {
  return async (request, forward) => {
    const reply = await forward(request);
    const to = reply.fields.find(([name]) => name.toLowerCase() === 'location')?.[1];
    return to === undefined ? reply : forward({ ...request, path: new URL(to).pathname });
  };
}

/** Looks twice where once would do. */
function curious(): Tamper {
  return async (request, forward): Promise<Returning> => {
    if (request.path === discoveryPath) await forward(request);
    return forward(request);
  };
}

/** Keeps the first bundle for ever. */
function forgetfulOfNothing(): Tamper {
  const kept = new Map<string, Returning>();
  return async (request, forward) => {
    if (!request.path.startsWith('/federation/v1/bundle')) return forward(request);
    const key = String(hostOf(request));
    const reply = kept.get(key) ?? (await forward(request));
    kept.set(key, reply);
    return reply;
  };
}

/** Fetches the body that a message names, from the suite's own door. */
function fetchingBodies({ suite }: MutantParts): Tamper {
  return async (request, forward) => {
    const reference = /object:\/\/([^/"\\]+)\/([^"\\]+)/.exec(request.body.toString('utf8'));
    if (reference) await fetchFrom(suite, reference);
    return forward(request);
  };
}

function fetchFrom(
  { host, port }: { host: string; port: number },
  [, domain = '', path = '']: RegExpExecArray,
): Promise<void> {
  return new Promise((resolve) => {
    const request = send({ host, port, path: `/${path}`, headers: { host: domain }, agent: false }, (response) => {
      response.resume().on('end', () => resolve());
    });
    request.on('error', () => resolve());
    request.end();
  });
}

/** Believes every answer: what the suite says wrongly is taken for right, so that nothing comes again. */
function believing({ right }: MutantParts): Tamper {
  return async (request, forward) => {
    const reply = await forward(request);
    return isTransaction(request) && reply.status === 200 ? right(request) : reply;
  };
}

const signing = (name: string, id: string, make: Mutant['make']): Mutant => ({
  name,
  scenario: 'sending',
  caughtBy: [id],
  at,
  make,
});

export const outboundMutants: readonly Mutant[] = [
  signing(
    'the media type has a parameter',
    'REQUESTS-15',
    changed((request) => ({
      ...request,
      fields: request.fields.map(([name, value]) => [
        name,
        name.toLowerCase() === 'content-type' ? `${value}; charset=utf-8` : value,
      ]),
    })),
  ),
  signing(
    'no digest is sent',
    'REQUESTS-11',
    changed((request) => ({
      ...request,
      fields: request.fields.filter(([name]) => name.toLowerCase() !== 'content-digest'),
    })),
  ),
  signing(
    'the signature is over what was dialled',
    'REQUESTS-12',
    changed((request) => ({ ...request, path: `${request.path}?via=proxy` })),
  ),
  signing(
    'no certificates come along',
    'DELIVERY-7',
    changed((request) => ({ ...request, body: Buffer.from(JSON.stringify({ ...jsonIn(request), certificates: [] })) })),
  ),
  signing(
    'the header is written prettily',
    'ENVELOPE-2',
    inEnvelopes((header) => JSON.stringify(JSON.parse(header), null, 1)),
  ),
  signing(
    'the header is changed after it was signed',
    'ENVELOPE-4',
    inEnvelopes((header) => header.replace('"prev":""', '"prev":"msg_mutant_01m07gwwe0xpkh81a2k3mwbkr4"')),
  ),
  signing(
    'the header has a member of its own',
    'ENVELOPE-3',
    inEnvelopes((header) => header.replace(/}$/, ',"x_trace":"1"}')),
  ),
  signing(
    'another origin is claimed',
    'DELIVERY-2',
    changed((request) => ({
      ...request,
      body: withJson({ status: 0, fields: [], body: request.body }, { ...jsonIn(request), origin: 'other.test' }).body,
    })),
  ),
  {
    name: 'signed once, sent without patience',
    scenario: 'failing-peer',
    caughtBy: ['REQUESTS-9', 'REQUESTS-7', 'DELIVERY-28'],
    at,
    make: impatient,
  },
  {
    name: 'deaf to Retry-After, sends parked messages again',
    scenario: 'doubtful-answers',
    caughtBy: ['DELIVERY-29', 'DELIVERY-35'],
    at,
    make: () => both(deaf(), insistent()),
  },
  {
    name: 'redirects are followed, documents read to their end',
    scenario: 'reading-discovery',
    caughtBy: ['DISCOVERY-7', 'DISCOVERY-8'],
    at,
    make: obedient,
  },
  {
    name: 'bodies are fetched because a message names them',
    scenario: 'envelopes',
    caughtBy: ['ENVELOPE-8'],
    at: 'federation',
    make: fetchingBodies,
  },
  {
    name: 'answers are believed without their receipts',
    scenario: 'doubtful-answers',
    caughtBy: ['DELIVERY-27', 'RECEIPTS-2', 'RECEIPTS-3', 'RECEIPTS-4', 'RECEIPTS-6'],
    at,
    make: believing,
  },
  { name: 'two looks at once', scenario: 'reading-discovery', caughtBy: ['DISCOVERY-12'], at, make: curious },
  {
    name: 'a bundle is kept for ever',
    scenario: 'key-changes',
    caughtBy: ['KEYS-27', 'KEYS-28'],
    at,
    make: forgetfulOfNothing,
  },
];

function both(outer: Tamper, inner: Tamper): Tamper {
  return (request, forward) => outer(request, (passed) => inner(passed, forward));
}
