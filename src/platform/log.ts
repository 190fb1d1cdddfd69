// The log: JSON lines on standard error, one child logger per room. It carries ids and codes, never bodies, keys or tokens.
import { type DestinationStream, destination, type Logger, pino } from 'pino';

export type Log = Logger;

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

const secretNames = ['authorization', 'cookie', 'token', 'secret', 'password', 'credential', 'privateKey', 'signature'];

export function createLog(options: { level: LogLevel; stream?: DestinationStream }): Log {
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[redacted]' },
      serializers: { err: describeError },
    },
    // Synchronous, so that the last lines before an exit are not lost.
    options.stream ?? destination({ fd: 2, sync: true }),
  );
}

export function roomLog(log: Log, room: string): Log {
  return log.child({ room });
}

/**
 * Chosen fields only: PostgreSQL's `detail` quotes the row that failed, and a row may hold what must not be logged.
 */
function describeError(error: unknown, depth = 0): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  const fields: Record<string, unknown> = { type: error.name, message: error.message, stack: error.stack };
  for (const name of ['code', 'reason', 'retryable', 'constraint_name', 'table_name', 'severity']) {
    const value: unknown = Reflect.get(error, name);
    if (value !== undefined) fields[name] = value;
  }
  if (error.cause !== undefined && depth < 4) fields.cause = describeError(error.cause, depth + 1);
  return fields;
}
