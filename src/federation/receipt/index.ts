// The receipt room: signed statements, each of one layer; stored is not read, read is not accepted, accepted is not done.
export { readReceiptsOf, saveReceipt, saveTransactionReceipt } from './store.js';
