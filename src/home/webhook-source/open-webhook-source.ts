// Finds a webhook source with its secret open, for the one check that needs it.
import type { Sql } from '../../platform/index.js';
import type { KeyCustody } from '../key-custody/index.js';
import { readWebhookSource } from './store.js';
import { secretLabel, type WebhookSource } from './webhook-source.js';

export type OpenWebhookSource = WebhookSource & {
  /** The bytes to key the HMAC with: the secret's text as UTF-8. */
  secret: Uint8Array;
};

export async function openWebhookSource(
  sql: Sql,
  custody: KeyCustody,
  name: string,
): Promise<OpenWebhookSource | undefined> {
  const found = await readWebhookSource(sql, name);
  if (!found) return undefined;
  const { sealedSecret, ...source } = found;
  return { ...source, secret: custody.openSecret(secretLabel(source.home), sealedSecret) };
}
