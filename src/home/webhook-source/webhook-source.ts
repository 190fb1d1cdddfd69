// An outside source that posts webhooks: a service principal, and the secret its signatures are checked with.
import type { Address, HomeTag } from '../../protocol/index.js';

export const webhookAdapters = ['github'] as const;
export type WebhookAdapter = (typeof webhookAdapters)[number];

export interface WebhookSource {
  home: HomeTag;
  name: string;
  adapter: WebhookAdapter;
  tenant: string;
  address: Address;
  createdAt: Date;
}

/** Binds the sealed secret to its source. */
export function secretLabel(home: string): string {
  return `webhook ${home}`;
}
