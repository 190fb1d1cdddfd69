// Envelopes that are wrong in one thing each, sent by a pinned peer: every fault is refused for its own reason.
import { holds, rejected, resultIs, same } from '../expect.js';
import { type EnvelopeDraft, sealEnvelope } from '../peer/played-agent.js';
import type { PutTransaction } from '../peer/played-domain.js';
import type { Scenario } from '../scenario.js';
import { mintId } from '../wire/ids.js';
import { instantIn } from '../wire/time.js';
import { formFaults, withoutBody } from './envelope-forms.js';
import { meaningFaults, nameFaults } from './envelope-meanings.js';

export const envelopes: Scenario = {
  name: 'envelopes',
  about: 'an envelope is taken as it should be, and each fault in one is refused for its reason',
  needs: ['reachable', 'pinned'],
  checks: [
    ...Array.from({ length: 16 }, (_, index) => `ENVELOPE-${index + 1}`),
    ...['ENVELOPE-19', 'ENCODING-8', 'ENCODING-9', 'ENCODING-10', 'ENCODING-11', 'KEYS-5'],
    ...['NAMES-1', 'NAMES-3', 'NAMES-4', 'NAMES-5', 'NAMES-6', 'NAMES-8', 'NAMES-12'],
  ],
  async run(stage, { check }) {
    const { peer, quiet } = stage;
    const from = peer.agent('one');
    const send = (draft: Partial<EnvelopeDraft>, put: PutTransaction = {}) =>
      peer.put({ envelopes: [sealEnvelope({ from, to: [quiet], ...draft }).wire], ...put });
    await check('ENCODING-11', 'an envelope over the right signing bytes is taken', async () =>
      resultIs(await send({}), 'accepted'),
    );
    for (const { id, what, codes, draft, put } of [
      ...formFaults(stage),
      ...meaningFaults(stage),
      ...nameFaults(stage),
    ]) {
      await check(id, what, async () => rejected(await send(draft, put), codes));
    }
    await check('NAMES-4', 'a name that differs in one byte is another name', async () =>
      rejected(await send({ to: [quiet.replace('conformance-quiet', 'conformance_quiet')] }), [
        'recipient_unavailable',
      ]),
    );
    await check('ENVELOPE-8', 'nobody fetches the body that a message names', async () => {
      const before = peer.received.length;
      const name = mintId('msg', 'object');
      const reply = await send({ header: { body_ref: `object://${peer.name}/${name}` }, change: withoutBody });
      rejected(reply, ['body_missing']);
      const fetched = peer.received.slice(before).filter((request) => request.path.includes(name));
      same(fetched.length, 0, 'the number of requests for it');
    });
    await check('ENVELOPE-5', 'a body of exactly 48 KiB is taken', async () => {
      const frame = { text: '', data: { x: '' } };
      const data = { x: 'x'.repeat(49_152 - JSON.stringify(frame).length) };
      resultIs(await send({ body: { ...frame, data } }), 'accepted');
    });
    await check('ENVELOPE-10', 'fifty recipients are taken', async () => {
      const many = Array.from({ length: 49 }, (_, index) => `${quiet}-${index}`);
      const reply = await send({ to: [quiet, ...many] });
      same(reply.results.length, 50, 'the number of results');
      resultIs(reply, 'accepted');
    });
    await check('ENVELOPE-13', 'an envelope that expires soon is still taken', async () =>
      resultIs(await send({ header: { expires_at: instantIn(30) } }), 'accepted'),
    );
    await check('ENVELOPE-12', 'an issued_at a little ahead is taken', async () =>
      resultIs(await send({ header: { issued_at: instantIn(200) } }), 'accepted'),
    );
    await check('ENVELOPE-2', 'the refusal of another spelling names the message', async () => {
      const sealed = sealEnvelope({ from, to: [quiet], spelling: (text) => text.replace(',', ', ') });
      const reply = await peer.put({ envelopes: [sealed.wire] });
      rejected(reply, ['envelope_not_canonical']);
      holds(JSON.stringify(reply.results).includes(sealed.messageId), 'it is not named');
    });
  },
};
