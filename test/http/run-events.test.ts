// Run events over SSE (F11): live, resumed by cursor after a cut, ended with the run, bounded.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestDomain, type TestDomain } from '../support/test-domain.js';

let domain: TestDomain;

beforeAll(async () => {
  domain = await startTestDomain();
  const steps = [{ say: 'one' }, { say: 'two' }, { await: 'steer' }, { say: 'three' }, { complete: 'done' }];
  await domain.api('POST', '/admin/v1/agents', {
    body: {
      name: 'talker',
      runtime: { id: 'scripted', config: { rules: [{ when: { type: 'talk' }, steps }], supports: { steer: true } } },
      attention: { when_active: 'steer' },
    },
  });
});

afterAll(() => domain.stop());

let rounds = 0;

/** Starts a run that has said two things and waits for a third to be asked for. */
async function startTalk(): Promise<string> {
  rounds += 1;
  const sent = await domain.api('POST', '/v1/inputs', {
    body: {
      kind: 'command',
      type: 'talk',
      source_event_id: `talk-${rounds}`,
      target: { agent: 'talker' },
      correlation_id: `c${rounds}`,
    },
  });
  let run = '';
  await expect
    .poll(async () => {
      const read = await domain.api('GET', `/v1/inputs/${sent.text('input_id')}`);
      run = Array.isArray(read.body.run_refs) ? String(read.body.run_refs[0] ?? '') : '';
      const events = run === '' ? undefined : await domain.api('GET', `/v1/runs/${run}/events`);
      return JSON.stringify(events?.body ?? {}).includes('"two"');
    })
    .toBe(true);
  return run;
}

interface Stream {
  /** Frames so far, comments and the retry line left out. */
  frames: string[];
  cut(): void;
  ended: Promise<void>;
}

async function open(run: string, headers: Record<string, string> = {}): Promise<Stream> {
  const cut = new AbortController();
  const response = await fetch(`${domain.running.urls.api}/v1/runs/${run}/events`, {
    headers: { authorization: `Bearer ${domain.operatorToken}`, accept: 'text/event-stream', ...headers },
    signal: cut.signal,
  });
  if (response.status !== 200) throw new Error(`answered ${response.status}`);
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const frames: string[] = [];
  const ended = read(response, frames);
  return { frames, cut: () => cut.abort(), ended };
}

async function read(response: Response, frames: string[]): Promise<void> {
  let text = '';
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      const parts = text.split('\n\n');
      text = parts.pop() ?? '';
      frames.push(...parts.filter((part) => part.includes('data: ')));
    }
  } catch (error) {
    if (!(error instanceof Error && error.name === 'AbortError')) throw error;
  }
}

function seqsOf(frames: readonly string[]): number[] {
  return frames.flatMap((frame) => [...frame.matchAll(/"seq":(\d+),/g)].map((match) => Number(match[1])));
}

/** The cursor behind the last event. */
function lastIdOf(frames: readonly string[]): string {
  return frames.flatMap((frame) => /^id: (.+)$/m.exec(frame)?.[1] ?? []).at(-1) ?? '';
}

describe('run events', () => {
  it('a cut stream resumes at its cursor without a gap or a repeat, and ends after the last event', async () => {
    const run = await startTalk();
    const first = await open(run);
    await expect.poll(() => first.frames.length).toBeGreaterThanOrEqual(4);
    first.cut();
    await first.ended;
    const second = await open(run, { 'last-event-id': lastIdOf(first.frames) });
    const steer = await domain.api('POST', `/v1/runs/${run}/controls`, { body: { verb: 'steer', data: { go: true } } });
    expect(steer.status).toBe(202);
    await second.ended;
    const seen = [...seqsOf(first.frames), ...seqsOf(second.frames)];
    expect(seen).toEqual(seen.map((_, index) => index + 1));
    expect(second.frames.at(-1)).toMatch(/^event: end\n.*"status":"completed","reason_code":null/);
    expect(second.frames.join('\n')).toContain('event: run.completed');
    const page = await domain.api('GET', `/v1/runs/${run}/events?limit=200`);
    expect(page.body.ended).toBe(true);
    expect(page.body.items).toHaveLength(seen.length);
  });

  it('pages go on where the last one ended, and a cursor that is none is refused', async () => {
    const run = await startTalk();
    const first = await domain.api('GET', `/v1/runs/${run}/events?limit=1`);
    expect(first.body).toMatchObject({ ended: false, items: [{ seq: 1, type: 'run.started' }] });
    const next = await domain.api('GET', `/v1/runs/${run}/events?limit=1&after=${first.text('cursor')}`);
    expect(next.body).toMatchObject({ items: [{ seq: 2 }] });
    expect((await domain.api('GET', `/v1/runs/${run}/events?after=9999`)).body).toMatchObject({
      status: 400,
      code: 'cursor_invalid',
    });
    await domain.api('POST', `/v1/runs/${run}/controls`, { body: { verb: 'cancel' } });
  });

  it('one caller may hold a bounded number of streams, and closing one makes room', async () => {
    const run = await startTalk();
    const streams = await Promise.all(Array.from({ length: 16 }, () => open(run)));
    await expect(open(run)).rejects.toThrow('429');
    streams[0]?.cut();
    await expect
      .poll(() =>
        open(run).then(
          (stream) => {
            stream.cut();
            return true;
          },
          () => false,
        ),
      )
      .toBe(true);
    for (const stream of streams) stream.cut();
    await domain.api('POST', `/v1/runs/${run}/controls`, { body: { verb: 'cancel' } });
  });
});
