// The webhook-source room.
export {
  type CreateWebhookSource,
  createWebhookSource,
  type WebhookSourceCreated,
} from './create-webhook-source.js';
export { type OpenWebhookSource, openWebhookSource } from './open-webhook-source.js';
export { listWebhookSources } from './store.js';
export { type WebhookAdapter, type WebhookSource, webhookAdapters } from './webhook-source.js';
