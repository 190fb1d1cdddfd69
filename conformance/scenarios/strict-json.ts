// Bodies that two parsers could read differently: refused before they are used.
import { refused, same } from '../expect.js';
import type { Scenario } from '../scenario.js';
import type { Stage } from '../stage.js';

export const strictJson: Scenario = {
  name: 'strict-json',
  about: 'JSON that is not strict is refused as malformed_json, what merely is unusual is not',
  needs: ['reachable'],
  checks: ['ENCODING-1', 'ENCODING-2', 'ENCODING-3', 'ENCODING-4', 'ENCODING-5', 'ENCODING-6', 'DELIVERY-9'],
  async run(stage, { check }) {
    const { peer } = stage;
    const frame = frameWith(stage, '');
    const refuse = (id: string, what: string, body: string | Uint8Array) =>
      check(id, what, async () => refused(await peer.put({ body }), 400, 'malformed_json'));
    const withSignal = (signal: string) => frameWith(stage, signal);
    await refuse(
      'ENCODING-1',
      'a byte order mark is refused',
      Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(frame)]),
    );
    await refuse(
      'ENCODING-1',
      'a body that is not UTF-8 is refused',
      Buffer.concat([Buffer.from(withSignal('"')).subarray(0, -3), Buffer.from([0xff]), Buffer.from('"]}')]),
    );
    await refuse('ENCODING-2', 'a member that is named twice is refused', withSignal('{"type":"a","type":"b"}'));
    await refuse(
      'ENCODING-2',
      'a member that is named twice, once escaped, is refused',
      withSignal('{"type":"a","\\u0074ype":"b"}'),
    );
    await refuse('ENCODING-3', 'a member named __proto__ is refused', withSignal('{"__proto__":{}}'));
    await refuse('ENCODING-4', 'an escaped lone surrogate is refused', withSignal('"\\ud800"'));
    await refuse('ENCODING-4', 'an escaped NUL is refused', withSignal('"\\u0000"'));
    await refuse('ENCODING-5', 'a number beyond the doubles is refused', withSignal('1e400'));
    await refuse('ENCODING-5', 'the integer 2^53 is refused', withSignal('9007199254740992'));
    await refuse('ENCODING-5', 'the integer -2^53 is refused', withSignal('-9007199254740992'));
    const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    await refuse('ENCODING-6', 'JSON that is nested 33 deep is refused', withSignal(nested(31)));
    const take = (id: string, what: string, body: string) =>
      check(id, what, async () => same((await peer.put({ body })).status, 200, 'the status'));
    await take('ENCODING-6', 'JSON that is nested 32 deep is taken', withSignal(nested(30)));
    await take('ENCODING-5', 'the integer 2^53 - 1 is taken', withSignal('9007199254740991'));
    await take(
      'DELIVERY-9',
      'signals of unknown kinds and shapes are passed over',
      withSignal('{"type":"from.the.future","x":[1]},null,7'),
    );
  },
};

function frameWith({ peer, target }: Stage, signal: string): string {
  const head = {
    origin: peer.name,
    destination: target.domain,
    incarnation: peer.incarnation,
    certificates: [],
    envelopes: [],
  };
  return `${JSON.stringify(head).slice(0, -1)},"signals":[${signal}]}`;
}
