import { describe, expect, it } from 'vitest';
import { createLog, roomLog } from '../../src/platform/index.js';

function capture() {
  const lines: string[] = [];
  const log = createLog({ level: 'info', stream: { write: (line) => void lines.push(line) } });
  return { log: roomLog(log, 'gateway'), lines };
}

describe('the log', () => {
  it('writes one JSON line with time, level and room', () => {
    const { log, lines } = capture();
    log.info({ messageId: 'msg_1' }, 'stored');
    log.debug('unseen');
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'info',
      room: 'gateway',
      messageId: 'msg_1',
      msg: 'stored',
    });
  });

  it('keeps secrets out, at the top, in objects and in errors (BR-89)', () => {
    const { log, lines } = capture();
    log.info(
      { token: 'canary', headers: { authorization: 'canary' }, request: { headers: { cookie: 'canary' } } },
      'x',
    );
    const error = Object.assign(new Error('duplicate key'), {
      code: '23505',
      detail: 'Key (token)=(canary)',
      query: 'canary',
    });
    log.error({ err: new Error('outer', { cause: error }) }, 'y');
    expect(lines.join('')).not.toContain('canary');
    expect(JSON.parse(lines[1] ?? '')).toMatchObject({ err: { message: 'outer', cause: { code: '23505' } } });
  });
});
