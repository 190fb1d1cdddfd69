// GitHub webhooks against GitHub's own signing method and its own recorded payloads.
import { createRequire } from 'node:module';
import type { WebhookDefinition } from '@octokit/webhooks-examples';
import { sign } from '@octokit/webhooks-methods';
import { describe, expect, it } from 'vitest';
import { normalizeGithubDelivery, verifyGithubSignature } from '../../../src/adapters/webhook/index.js';
import { type JsonObject, parseStrictJson } from '../../../src/protocol/index.js';

const definitions: WebhookDefinition[] = createRequire(import.meta.url)('@octokit/webhooks-examples');
const secret = 'a secret of the webhook';
const key = Buffer.from(secret);
const recorded = definitions.flatMap(({ name, examples }) =>
  examples.map((payload) => ({ name, payload: JSON.stringify(payload) })),
);

describe('github signature', () => {
  it('what GitHub signs is verified over the exact bytes', async () => {
    for (const { payload } of recorded.slice(0, 40)) {
      expect(verifyGithubSignature(key, Buffer.from(payload), await sign(secret, payload))).toBe(true);
    }
  });

  it('one changed byte, another secret or another form of the header is refused', async () => {
    const payload = recorded[0]?.payload ?? '';
    const header = await sign(secret, payload);
    const body = Buffer.from(payload);
    const changed = Buffer.from(body);
    changed[10] = (changed[10] ?? 0) ^ 1;
    expect(verifyGithubSignature(key, changed, header)).toBe(false);
    expect(verifyGithubSignature(Buffer.from('another'), body, header)).toBe(false);
    for (const forged of [
      '',
      'sha256=',
      header.slice(0, -1),
      `${header}0`,
      header.toUpperCase(),
      header.slice(7),
      `sha1=${header.slice(7)}`,
    ]) {
      expect(verifyGithubSignature(key, body, forged)).toBe(false);
    }
    expect(verifyGithubSignature(key, body, `sha256=${'0'.repeat(64)}`)).toBe(false);
  });
});

describe('github normalisation', () => {
  it('every recorded payload becomes one event whose data is the payload', () => {
    for (const { name, payload } of recorded) {
      const data = parseStrictJson(payload, { maxBytes: 5_000_000 }) as JsonObject;
      const action = data.action;
      const normalized = normalizeGithubDelivery({ event: name, delivery: 'd-1', payload: data });
      const type = typeof action === 'string' ? `github.${name}.${action}` : `github.${name}`;
      expect(normalized).toMatchObject({ ok: true, event: { type, sourceEventId: 'd-1', data } });
    }
  });

  it('the subject is the pull request, also of a comment on it, else the repository', () => {
    expect(resourceOf({ repository: { full_name: 'o/r' }, pull_request: { number: 2 } })).toBe('github:o/r#pull/2');
    expect(resourceOf({ repository: { full_name: 'o/r' }, issue: { number: 3, pull_request: {} } })).toBe(
      'github:o/r#pull/3',
    );
    expect(resourceOf({ repository: { full_name: 'o/r' }, issue: { number: 3 } })).toBe('github:o/r#issue/3');
    expect(resourceOf({ repository: { full_name: 'o/r' } })).toBe('github:o/r');
    expect(resourceOf({ organization: { login: 'o' } })).toBe('github:o');
    expect(resourceOf({})).toBeUndefined();
  });

  it('names inside the payload that are no names become no part of a subject or a type', () => {
    expect(resourceOf({ repository: { full_name: 'o/r#pull/1' } })).toBeUndefined();
    expect(resourceOf({ repository: { full_name: 'o/r' }, pull_request: { number: '2' } })).toBe('github:o/r');
    const odd = normalizeGithubDelivery({ event: 'push', delivery: 'd', payload: { action: 'x y' } });
    expect(odd).toMatchObject({ ok: true, event: { type: 'github.push' } });
  });

  it('a missing event name, delivery id or object is a refusal with words', () => {
    expect(normalizeGithubDelivery({ event: '', delivery: 'd', payload: {} })).toMatchObject({ ok: false });
    expect(normalizeGithubDelivery({ event: 'push', delivery: '', payload: {} })).toMatchObject({ ok: false });
    expect(normalizeGithubDelivery({ event: 'push', delivery: 'd', payload: [] })).toMatchObject({ ok: false });
  });
});

function resourceOf(payload: JsonObject): string | undefined {
  const normalized = normalizeGithubDelivery({ event: 'x', delivery: 'd', payload });
  return normalized.ok ? normalized.event.resource : undefined;
}
