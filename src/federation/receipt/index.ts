// The receipt room: signed statements, each of one layer; stored is not read, read is not accepted, accepted is not done.
export { type MessageReceipt, readReceiptsOf, saveReceipts, saveTransactionReceipt } from './store.js';
