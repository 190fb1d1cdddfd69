// How the target reads the discovery documents of others: each played domain has something wrong, or stops answering.
import { createServer, type Server } from 'node:net';
import { holds, refused, same } from '../expect.js';
import { discoveryOf } from '../peer/bundle.js';
import type { Answer, RawAnswer, Received } from '../peer/listener.js';
import type { PlayedDomain } from '../peer/played-domain.js';
import type { Checks, Scenario } from '../scenario.js';
import type { Stage } from '../stage.js';
import { sleep } from '../wire/time.js';

const directory = '/federation/v1/directory';
const documentPath = '/.well-known/agent-federation';

export const readingDiscovery: Scenario = {
  name: 'reading-discovery',
  about: 'the target believes a discovery document only if it is right, and looks no further than it has to',
  needs: ['reachable'],
  checks: [
    ...[2, 3, 5, 7, 8, 9, 11, 12].map((number) => `DISCOVERY-${number}`),
    ...['SECURITY-1', 'SECURITY-2', 'SECURITY-3', 'ENCODING-2'],
  ],
  async run(stage, checks) {
    const { check } = checks;
    const document = (name: string, change: Record<string, unknown>) => {
      const played = stage.play(name);
      played.discovery = () => ({ body: JSON.stringify({ ...discoveryOf(played.name), ...change }) });
      return played;
    };
    const refuse = (id: string, what: string, played: PlayedDomain) =>
      check(id, what, async () => refused(await played.get(directory), 401));
    await refuse(
      'DISCOVERY-2',
      'a document of another domain is refused',
      document('document-1', { domain: stage.peer.name }),
    );
    await refuse(
      'DISCOVERY-5',
      'a document without rfc9421 is refused',
      document('document-2', { request_signatures: ['rfc9999'] }),
    );
    await refuse(
      'DISCOVERY-3',
      'a gateway over http is refused',
      document('document-3', { gateway: `http://document-3.invalid` }),
    );
    await refuse('ENCODING-2', 'a document with a member twice is refused', repeated(stage));
    await redirect(stage, checks);
    await endless(stage, checks);
    await internal(stage, checks);
    await oneLook(stage, checks);
    await lastGood(stage, checks);
  },
};

function repeated(stage: Stage): PlayedDomain {
  const played = stage.play('document-4');
  const text = JSON.stringify(discoveryOf(played.name));
  played.discovery = () => ({ body: text.replace('{', `{"domain":"${played.name}",`) });
  return played;
}

async function redirect(stage: Stage, { check }: Checks): Promise<void> {
  const played = stage.play('document-5');
  const { body } = { body: JSON.stringify(discoveryOf(played.name)) };
  const moved = (request: Received): Answer =>
    request.path === documentPath ? { status: 302, fields: { location: `https://${played.name}/moved` } } : { body };
  played.discovery = moved;
  await check('DISCOVERY-7', 'a redirect is not followed', async () => {
    refused(await played.get(directory), 401);
    same(played.received.filter(({ path }) => path === '/moved').length, 0, 'the number of requests for the new place');
  });
}

async function endless(stage: Stage, { check }: Checks): Promise<void> {
  const played = stage.play('document-6');
  let written = 0;
  const pour: RawAnswer = (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const chunk = Buffer.alloc(65_536, 0x20);
    const more = () => {
      while (!response.destroyed && written < 64 * 1_048_576) {
        written += chunk.byteLength;
        if (!response.write(chunk)) return void response.once('drain', more);
      }
      response.end();
    };
    more();
  };
  played.discovery = () => pour;
  const startMs = performance.now();
  const reply = await played.get(directory);
  await check('DISCOVERY-8', 'an answer that is too long is refused and not read to its end', () => {
    refused(reply, 401);
    holds(written < 32 * 1_048_576, `${written} bytes were read`);
  });
  await check('SECURITY-3', 'reading it is bounded in time', () =>
    holds(performance.now() - startMs < 15_000, 'it took more than 15 s'),
  );
}

/** A gateway on this machine, which nobody outside may make the target dial. */
async function internal(stage: Stage, { check }: Checks): Promise<void> {
  let dialled = 0;
  const trap: Server = createServer((socket) => {
    dialled += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
  const address = trap.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const played = stage.play('document-7');
  const gatewayAt = (gateway: string) => () => ({ body: JSON.stringify({ ...discoveryOf(played.name), gateway }) });
  try {
    played.discovery = gatewayAt(`https://127.0.0.1:${port}`);
    await check('SECURITY-1', 'a gateway on loopback is not dialled', async () => {
      refused(await played.get(directory), 401);
      same(dialled, 0, 'the number of connections');
    });
    const other = stage.play('document-8');
    other.discovery = () => ({
      body: JSON.stringify({ ...discoveryOf(other.name), gateway: `http://127.0.0.1:${port}` }),
    });
    await check('SECURITY-2', 'a gateway without https is not dialled', async () => {
      refused(await other.get(directory), 401);
      same(dialled, 0, 'the number of connections');
    });
  } finally {
    trap.close();
  }
}

async function oneLook(stage: Stage, { check }: Checks): Promise<void> {
  const played = stage.play('silent');
  const { discovery } = played;
  played.discovery = async (request) => {
    await sleep(300);
    return discovery(request);
  };
  // Known from an earlier run, it is not looked up again: a kid that is not in its bundle makes the target look.
  const unknown = played.otherKey(`unknown ${Date.now()}`);
  const asks = Array.from({ length: 5 }, () =>
    played.get(directory, { key: unknown, keyid: `key://${played.name}/domain/${unknown.kid}` }),
  );
  for (const reply of await Promise.all(asks)) refused(reply, 401);
  const looks = () => played.received.filter(({ path }) => path === documentPath);
  await check('DISCOVERY-12', 'five requests at once make one look', () =>
    holds(looks().length <= 1, `there were ${looks().length}`),
  );
  await check('DISCOVERY-11', 'a good answer is not asked for again at once', async () => {
    const before = looks().length;
    for (let times = 0; times < 3; times += 1) same((await played.get(directory)).status, 200, 'the status');
    same(looks().length, before, 'the number of looks');
  });
}

async function lastGood(stage: Stage, { check }: Checks): Promise<void> {
  const played = stage.play('stranger');
  same((await played.get(directory)).status, 200, 'the status while it answers');
  played.discovery = () => ({ status: 500 });
  const unknown = played.otherKey(`unknown ${Date.now()}`);
  await played.get(directory, { key: unknown, keyid: `key://${played.name}/domain/${unknown.kid}` });
  await check('DISCOVERY-9', 'after a failed look the last good answer holds', async () =>
    same((await played.get(directory)).status, 200, 'the status'),
  );
  played.discovery = () => ({ body: JSON.stringify(discoveryOf(played.name)) });
}
