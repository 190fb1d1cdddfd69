// A domain that nobody pinned: verified like all others, then held where it reaches nobody, within bounds.
import { holds, refused, rejected, resultIs, same } from '../expect.js';
import { sealEnvelope } from '../peer/played-agent.js';
import type { TransactionReply } from '../peer/played-domain.js';
import type { Scenario } from '../scenario.js';
import type { Stage } from '../stage.js';
import { textOf } from '../wire/json.js';
import { problemDocument } from './open-door.js';

const mostTransactions = 24;

export const strangers: Scenario = {
  name: 'strangers',
  about: 'a stranger is told the same of everybody, and cannot fill the house',
  needs: ['reachable'],
  checks: ['DELIVERY-20', 'DELIVERY-22', 'REQUESTS-18', 'DISCOVERY-13', 'DELIVERY-11'],
  async run(stage, { check, skip }) {
    const stranger = stage.play('stranger');
    const from = stranger.agent('one');
    const sent = async (to: string) => stranger.put({ envelopes: [sealEnvelope({ from, to: [to] }).wire] });
    await check('DELIVERY-20', 'who exists and who does not get the same result', async () => {
      const [known, unknown] = [await sent(stage.quiet), await sent(`${stage.quiet}-nobody`)];
      resultIs(known, 'parked');
      same(shapeOf(unknown), shapeOf(known), 'the shape of the result');
    });
    await check('DISCOVERY-13', 'being looked up and heard makes nobody a peer', async () =>
      resultIs(await sent(stage.quiet), 'parked'),
    );
    await check('DELIVERY-11', "a stranger's forged message is refused like anybody's", async () => {
      const forged = sealEnvelope({ from, to: [stage.quiet], sign: (signature) => Buffer.from(signature).reverse() });
      rejected(await stranger.put({ envelopes: [forged.wire] }), ['signature_invalid']);
    });
    const bound = await flood(stage);
    if (!bound) {
      const why = `${mostTransactions * 50} messages of a stranger met no bound`;
      skip('DELIVERY-22', why);
      skip('REQUESTS-18', why);
      return;
    }
    await check('DELIVERY-22', 'what passes a bound is refused as rate_limited', () => {
      refused(bound, 429, 'rate_limited');
      problemDocument(bound);
    });
    await check('REQUESTS-18', 'the refusal says when to come back', () =>
      holds(/^[0-9]+$/.test(bound.fields.get('retry-after') ?? ''), 'Retry-After is missing'),
    );
  },
};

/** Sends full batches until one is not taken. */
async function flood(stage: Stage): Promise<TransactionReply | undefined> {
  const stranger = stage.play('flood');
  const from = stranger.agent('one');
  for (let sent = 0; sent < mostTransactions; sent += 1) {
    const envelopes = Array.from({ length: 50 }, () => sealEnvelope({ from, to: [stage.quiet] }).wire);
    const reply = await stranger.put({ envelopes });
    if (reply.status !== 200) return reply;
  }
  return undefined;
}

/** A result without what is its own. */
function shapeOf(reply: TransactionReply): string {
  const result = Object(reply.results[0]);
  return JSON.stringify({ ...result, message_id: '', recipient: '', receipt_id: textOf(result, 'receipt_id') === '' });
}
