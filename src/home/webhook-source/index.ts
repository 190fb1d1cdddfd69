// The webhook-source room.
export { createWebhookSource } from './create-webhook-source.js';
export { openWebhookSource } from './open-webhook-source.js';
export { readAdapters } from './store.js';
export { webhookAdapters } from './webhook-source.js';
