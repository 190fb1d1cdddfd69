// PostgreSQL through postgres.js: reads take `Sql`, writes take the `Tx` that only `transact` can make.
import postgres from 'postgres';
import type { Clock } from './clock.js';
import { TransactionTimedOut } from './database-error.js';
import type { Log } from './log.js';
import { requirePatchedPostgres } from './postgres-patch.js';
import { StartRefused } from './start-refused.js';

declare const txBrand: unique symbol;

export type Sql = postgres.ISql;

export type Tx = Sql & {
  readonly [txBrand]: true;
  /** What fails inside undoes itself alone; the transaction goes on. */
  savepoint<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
};

export type DatabaseTarget =
  | { kind: 'url'; url: string }
  | { kind: 'socket'; directory: string; user: string; database: string };

export interface Listening {
  unlisten(): Promise<void>;
}

export interface Database {
  sql: Sql;
  transact<T>(name: string, work: (tx: Tx) => Promise<T>, options?: { timeoutMs: number }): Promise<T>;
  /** `onListen` runs at each (re)connection: what was announced meanwhile is lost, so look then. */
  listen(channel: string, onNotify: (payload: string) => void, onListen?: () => void): Promise<Listening>;
  close(): Promise<void>;
}

export interface OpenDatabase {
  target: DatabaseTarget;
  applicationName: string;
  maxConnections: number;
  clock: Clock;
  log: Log;
  /** How long one transaction may take, whatever it waits for. */
  transactionMs?: number;
  /** Moves `hearth_now()` for every statement of this process. Tests only; the configuration refuses it elsewhere. */
  clockOffsetMs?: number;
}

const defaultTransactionMs = 20_000;
const idleInTransactionMs = 4_000;
// After the deadline a rollback is on its way; this long again, and the connection counts as dead.
const graceMs = 5_000;

export function openDatabase(options: OpenDatabase): Database {
  requirePatchedPostgres();
  const transactionMs = options.transactionMs ?? defaultTransactionMs;
  const client = connect(options, transactionMs);

  return {
    sql: client,
    transact: (name, work, longer) =>
      transact({ client, clock: options.clock, transactionMs: longer?.timeoutMs ?? transactionMs, longer, name }, work),
    async listen(channel, onNotify, onListen) {
      const listening = await client.listen(channel, onNotify, onListen);
      return { unlisten: () => listening.unlisten() };
    },
    // Without a limit, end() waits for ever on a connection whose server has died.
    close: () => client.end({ timeout: 5 }),
  };
}

function connect(options: OpenDatabase, transactionMs: number): postgres.Sql {
  const settings = {
    max: options.maxConnections,
    connect_timeout: 10,
    // In seconds. The library's own steps grow to 20 s, far longer than a restart takes.
    backoff: (attempt: number) => Math.min(0.02 * 2 ** attempt, 1),
    onnotice: (notice: postgres.Notice) => options.log.debug({ notice: notice.message }, 'database notice'),
    connection: {
      application_name: options.applicationName,
      statement_timeout: transactionMs,
      // A process that stops inside a transaction must not keep its locks for longer than others keep their leases.
      idle_in_transaction_session_timeout: Math.min(transactionMs, idleInTransactionMs),
      TimeZone: 'UTC',
      ...(options.clockOffsetMs ? { 'hearth.clock_offset_ms': options.clockOffsetMs } : {}),
    },
    // Columns only: values of jsonb are other people's data and keep their names.
    transform: { column: { from: postgres.toCamel, to: postgres.fromCamel } },
    types: { int8 },
  };
  const { target } = options;
  const client =
    target.kind === 'url'
      ? connectUrl(target.url, settings)
      : postgres({
          ...settings,
          host: target.directory,
          port: 5432,
          user: target.user,
          database: target.database,
          pass: '',
        });
  // The one custom type parses into a plain number, so the client is used as the plain one.
  return client as unknown as postgres.Sql;
}

/** As libpq writes it, a server behind a socket is a directory in the place of the host, or in `?host=`. */
function connectUrl(text: string, settings: Parameters<typeof postgres>[1]): postgres.Sql<Record<string, unknown>> {
  if (text.includes(',')) return postgres(text, settings);
  if (!URL.canParse(text)) {
    throw new StartRefused(
      'The database URL cannot be read. It looks like postgres://user:password@host:5432/database; a server behind a ' +
        'socket like postgres://user@localhost/database?host=/var/run/postgresql.',
    );
  }
  const url = new URL(text);
  const host = url.searchParams.get('host') ?? decodeURIComponent(url.hostname);
  const port = Number(url.searchParams.get('port') ?? (url.port || 5432));
  if (!host.startsWith('/')) return postgres(text, settings);
  for (const name of ['host', 'port']) url.searchParams.delete(name);
  url.hostname = 'localhost';
  url.port = '';
  return postgres(url.href, { ...settings, host, port });
}

/** bigint columns hold counters and positions; past 2^53 a wrong number would be worse than an error. */
const int8 = {
  to: 20,
  from: [20],
  serialize: (value: number | bigint) => value.toString(),
  parse(text: string): number {
    const value = Number(text);
    if (!Number.isSafeInteger(value)) throw new RangeError(`the bigint ${text} does not fit a JavaScript number`);
    return value;
  },
};

interface Transaction {
  client: postgres.Sql;
  clock: Clock;
  transactionMs: number;
  /** Set when this transaction may take longer than the connection's own limits allow. */
  longer: { timeoutMs: number } | undefined;
  name: string;
}

/**
 * The work races a deadline inside the transaction, so a late one is rolled back and can never commit afterwards. A second
 * deadline stands outside: queries queued in a transaction whose connection died never settle.
 */
async function transact<T>(transaction: Transaction, work: (tx: Tx) => Promise<T>): Promise<T> {
  const { client, clock, transactionMs, longer, name } = transaction;
  const state = { over: false };
  const inner = deadline(clock, transactionMs, name);
  const outer = deadline(clock, transactionMs + graceMs, name);
  // A timer that runs out after the race is decided rejects into nothing.
  inner.passed.catch(() => undefined);
  outer.passed.catch(() => undefined);

  const begun = client.begin(async (raw) => {
    try {
      if (longer) await allowLonger(raw, longer.timeoutMs);
      // A box, because the library would take an array for a list of queries.
      return { value: await Promise.race([work(guardedTx(raw, state)), inner.passed]) };
    } finally {
      state.over = true;
    }
  });
  begun.catch(() => undefined);
  try {
    const { value } = await Promise.race([begun, outer.passed]);
    return value;
  } finally {
    state.over = true;
    inner.cancel();
    outer.cancel();
  }
}

async function allowLonger(raw: postgres.TransactionSql, timeoutMs: number): Promise<void> {
  await raw`
    select set_config('statement_timeout', ${`${timeoutMs}`}, true),
           set_config('idle_in_transaction_session_timeout', ${`${timeoutMs}`}, true)`;
}

function deadline(clock: Clock, ms: number, name: string): { passed: Promise<never>; cancel(): void } {
  let cancel = (): void => undefined;
  const passed = new Promise<never>((_, reject) => {
    const timer = clock.timer(ms, () =>
      reject(new TransactionTimedOut(`transaction ${name} took longer than ${ms} ms`)),
    );
    cancel = () => timer.cancel();
  });
  return { passed, cancel: () => cancel() };
}

/** A statement sent after its transaction has ended would commit on its own; this makes it an error instead. */
function guardedTx(raw: postgres.TransactionSql, state: { readonly over: boolean }): Tx {
  const guarded = new Proxy(raw, {
    apply(target, self, args) {
      if (state.over) throw new Error('a statement was sent after its transaction had ended');
      return Reflect.apply(target, self, args);
    },
    get(target, key) {
      if (key !== 'savepoint') return Reflect.get(target, key);
      return (work: (tx: Tx) => Promise<unknown>) => target.savepoint((inner) => workInside(inner, { state, work }));
    },
  });
  return guarded as unknown as Tx;
}

type Inside = { state: { readonly over: boolean }; work: (tx: Tx) => Promise<unknown> };

/** What a savepoint's work sends once it has failed would be kept by the transaction around it: that is an error too. */
async function workInside(inner: postgres.TransactionSql, { state, work }: Inside): Promise<unknown> {
  let ended = false;
  const own = {
    get over() {
      return ended || state.over;
    },
  };
  try {
    return await work(guardedTx(inner, own));
  } finally {
    ended = true;
  }
}
