// The mailbox room.
export { listMessages, type MessagePage } from './list-messages.js';
export {
  type DeliveryIdentity,
  type ExistingMessage,
  type MailboxMessage,
  messageOfTransport,
  type NewMessage,
} from './mailbox-message.js';
export { createMailbox, linkMessageInput, readConversationMessages } from './store.js';
export { knownMessages, lockMailboxes, type StoreResult, storeMessage, storeNewMessages } from './store-message.js';
