// What an error from PostgreSQL or its connection means to the caller.
import postgres from 'postgres';

/** A transaction that outlived its deadline. It was rolled back, or its connection is dead. */
export class TransactionTimedOut extends Error {
  override readonly name = 'TransactionTimedOut';
  readonly code = 'TRANSACTION_TIMED_OUT';
}

const lostCodes = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'TRANSACTION_TIMED_OUT',
  '25P03', // idle in transaction for too long: the server closed the connection
  '57P01', // the administrator shuts the server down
  '57P02', // a crash of another server process
  '57P03', // starting up or shutting down
  '53300', // no room for another connection: several processes share the server
]);

/** True when the work may simply be tried again on a new connection. A lost commit may have happened all the same. */
export function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error);
  if (code === undefined) return false;
  if (lostCodes.has(code) || code.startsWith('08')) return true;
  // The socket file is gone while the server is down.
  return code === 'ENOENT' && error instanceof Error && Reflect.get(error, 'syscall') === 'connect';
}

export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (!(error instanceof postgres.PostgresError) || error.code !== '23505') return false;
  return constraint === undefined || error.constraint_name === constraint;
}

/** A deadlock or a serialization failure: PostgreSQL asks for the transaction to be run again. */
export function isRetryableConflict(error: unknown): boolean {
  const code = codeOf(error);
  return code === '40001' || code === '40P01';
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code: unknown = Reflect.get(error, 'code');
  return typeof code === 'string' ? code : undefined;
}
