// The federation door towards callers that have proved nothing: problems that say what to do and give nothing away.
import { holds, refused, same } from '../expect.js';
import { call, type Reply } from '../peer/http-client.js';
import type { Scenario } from '../scenario.js';
import { mintId } from '../wire/ids.js';
import { memberOf, textOf } from '../wire/json.js';

export const openDoor: Scenario = {
  name: 'open-door',
  about: 'what is unsigned or garbage is refused with a problem document, and the door goes on',
  needs: [],
  checks: ['REQUESTS-1', 'REQUESTS-16', 'REQUESTS-17', 'SECURITY-5', 'COMMITMENTS-16'],
  async run({ target }, { check }) {
    const id = mintId('txn', 'conformance');
    const unsigned = await call({
      method: 'PUT',
      url: `${target.url}/federation/v1/transactions/${id}`,
      fields: [['content-type', 'application/json']],
      body: '{}',
    });
    await check('REQUESTS-1', 'a transaction without a signature is refused', () => refused(unsigned, 401));
    await check('REQUESTS-16', 'the refusal is a problem document', () => problemDocument(unsigned));
    await check('REQUESTS-17', 'the refusal gives no detail and names the component', () => {
      same(memberOf(unsigned.json, 'detail'), undefined, 'detail');
      holds(textOf(unsigned.json, 'component') !== '', 'component is missing');
    });
    await check('COMMITMENTS-16', 'a log is not shown to who has not signed', async () =>
      refused(
        await target.get(`/federation/v1/commitments/${mintId('cmt', 'x', target.domain)}/transitions`),
        [401, 404],
      ),
    );
    await check('SECURITY-5', 'garbage at the door is refused and others are served', async () => {
      const deep = '['.repeat(100_000);
      const garbage = [deep, '\u0000', '{"origin":', Buffer.alloc(4_194_305, 0x20), Buffer.from([0xff, 0xfe])];
      for (const body of garbage) {
        const reply = await call({
          method: 'PUT',
          url: `${target.url}/federation/v1/transactions/${id}`,
          fields: [['content-type', 'application/json']],
          body,
        });
        holds(reply.status >= 400 && reply.status < 500, `garbage was answered ${reply.status}`);
      }
      const strange = await call({ method: 'GET', url: `${target.url}/federation/v1/%00%ff/..%2f` });
      holds(strange.status >= 400 && strange.status < 500, `a strange path was answered ${strange.status}`);
      same((await target.get('/federation/v1/bundle')).status, 200, 'the status of the bundle afterwards');
    });
  },
};

export function problemDocument(reply: Reply): void {
  const type = reply.fields.get('content-type') ?? '';
  holds(type.startsWith('application/problem+json'), `the media type is ${type}`);
  same(memberOf(reply.json, 'status'), reply.status, 'status');
  for (const name of ['code', 'title', 'action', 'request_id']) {
    holds(textOf(reply.json, name) !== '', `${name} is missing`);
  }
}
