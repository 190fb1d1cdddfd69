// The mailbox room.
export { listMessages, type MessagePage } from './list-messages.js';
export {
  type DeliveryIdentity,
  type Direction,
  type ExistingMessage,
  type MailboxMessage,
  messageOfTransport,
  type NewMessage,
  type TransportEntry,
} from './mailbox-message.js';
export { createMailbox, findMessage, linkMessageInput, readConversationMessages } from './store.js';
export { lockMailboxes, type StoreResult, storeMessage } from './store-message.js';
