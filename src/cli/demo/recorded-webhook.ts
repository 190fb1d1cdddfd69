/** The webhook of the demo, as GitHub really sent it once, signed with the source's secret. */
import { createHmac } from 'node:crypto';
import { createRequire } from 'node:module';

interface RecordedExamples {
  name: string;
  examples: { action?: string }[];
}

interface RecordedWebhook {
  event: string;
  /** The exact bytes of the payload. */
  body: Buffer;
}

/** The `release` event with action `published` from the recorded examples. */
function recordedRelease(): RecordedWebhook {
  const payload = examplesOf('release').find((example) => example.action === 'published');
  if (!payload) throw new Error('the recorded examples hold no published release');
  return { event: 'release', body: Buffer.from(JSON.stringify(payload)) };
}

function examplesOf(event: string): { action?: string }[] {
  const require = createRequire(import.meta.url);
  const all: RecordedExamples[] = require('@octokit/webhooks-examples');
  return all.find((entry) => entry.name === event)?.examples ?? [];
}

/** Posts the webhook the way GitHub does; `delivery` is GitHub's id of this delivery. */
export async function postWebhook(url: string, secret: string, delivery: string): Promise<string> {
  const { event, body } = recordedRelease();
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'GitHub-Hookshot/044aadd',
      'x-github-event': event,
      'x-github-delivery': delivery,
      'x-hub-signature-256': `sha256=${signature}`,
    },
    body: new Uint8Array(body),
  });
  const text = await response.text();
  if (response.status !== 202) throw new Error(`the webhook was answered ${response.status}: ${text}`);
  return text;
}
