// What is left of transactions, connections and listeners when the server dies, and what the next ones find.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Database,
  type EmbeddedPostgres,
  isConnectionLost,
  openDatabase,
  startEmbeddedPostgres,
  systemClock,
} from '../../src/platform/index.js';
import { testLog } from '../support/database.js';

const clock = systemClock();
const log = testLog();

function caught(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('the death of the server', () => {
  let postgres: EmbeddedPostgres;
  let directory: string;
  let opened: Database[];

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'hearth-death-'));
    // So that, as root, the server's own user may pass.
    chmodSync(directory, 0o711);
    postgres = await startEmbeddedPostgres({ dataDirectory: directory, clock, log });
    opened = [];
  });
  afterEach(async () => {
    await Promise.all(opened.map((database) => database.close()));
    await postgres.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  async function open(maxConnections: number): Promise<Database> {
    const database = openDatabase({ target: postgres.target, applicationName: 'death', maxConnections, clock, log });
    opened.push(database);
    await database.sql`create table if not exists acks (id serial primary key)`;
    return database;
  }

  /** Resolves when another server than the killed one answers. */
  async function killServer(database: Database): Promise<void> {
    const pid = postgres.pid();
    // A signal to 0 would reach this process's own group.
    if (pid === undefined) throw new Error('the server is not running');
    process.kill(pid, 'SIGKILL');
    while (postgres.pid() === pid || postgres.pid() === undefined) await clock.sleep(20);
    await untilServed(database);
  }

  it('inside transactions rejects every one of them; the process lives and the restarted server has what was acknowledged', async () => {
    const database = await open(6);
    const acknowledged = new Set<number>();
    for (let round = 0; round < 3; round += 1) {
      const enough = acknowledged.size + 50;
      const stop = new AbortController();
      const working = Array.from({ length: 6 }, () => insertOverLosses(database, acknowledged, stop.signal));
      while (acknowledged.size < enough) await clock.sleep(2);
      const before = acknowledged.size;
      await killServer(database);
      // Each connection serves again, at once and not after a deadline.
      const since = clock.monotonicMs();
      while (acknowledged.size < before + 50) await clock.sleep(2);
      expect(clock.monotonicMs() - since).toBeLessThan(10_000);
      stop.abort();
      const losses = await Promise.all(working);
      expect(losses.flat().filter((error) => !isConnectionLost(error))).toEqual([]);
      expect(losses.flat().length).toBeGreaterThan(0);
    }
    const rows = await database.sql<{ id: number }[]>`select id from acks`;
    const kept = new Set(rows.map(({ id }) => id));
    expect([...acknowledged].filter((id) => !kept.has(id))).toEqual([]);
  }, 90_000);

  it('leaves connections whose next transactions get their own answers, at once', async () => {
    const database = await open(1);
    const dying = caught(
      database.transact('dying', async (tx) => {
        await tx`insert into acks values (1)`;
        setImmediate(() => process.kill(postgres.pid() ?? process.pid, 'SIGKILL'));
        await tx`select pg_sleep(60)`;
      }),
    );
    expect(isConnectionLost(await dying)).toBe(true);
    await untilServed(database);
    const since = clock.monotonicMs();
    for (let n = 0; n < 5; n += 1) {
      const answers = await database.transact('next', (tx) =>
        Promise.all([tx`select ${n}::int as first`, tx`select ${n}::int as second`]),
      );
      expect(answers).toEqual([[{ first: n }], [{ second: n }]]);
    }
    expect(clock.monotonicMs() - since).toBeLessThan(5_000);
  });

  it('takes nothing more from a transaction that died, least of all its rollback inside another one', async () => {
    const database = await open(1);
    const [written, late, standing] = [openGate(), openGate(), openGate()];
    const dead = caught(
      database.transact('dead', async (tx) => {
        await tx`insert into acks values (1)`;
        written.open();
        await late.opened;
        await tx`insert into acks values (2)`;
      }),
    );
    await written.opened;
    await killServer(database);
    expect(isConnectionLost(await dead)).toBe(true);
    const living = database.transact('living', async (tx) => {
      await tx`insert into acks values (3)`;
      late.open();
      // Long enough for the dead one to run on and fail.
      await tx`select pg_sleep(0.2)`;
      standing.open();
      await tx`insert into acks values (4)`;
    });
    await Promise.all([living, standing.opened]);
    expect(await database.sql`select id from acks order by id`).toEqual([{ id: 3 }, { id: 4 }]);
  });

  it('leaves a listener that hears again after the restart', async () => {
    const database = await open(6);
    const heard: string[] = [];
    let listens = 0;
    await database.listen(
      'news',
      (payload) => void heard.push(payload),
      () => {
        listens += 1;
      },
    );
    await killServer(database);
    while (listens < 2) await clock.sleep(10);
    await database.sql`select pg_notify('news', 'again')`;
    while (heard.length === 0) await clock.sleep(5);
    expect(heard).toEqual(['again']);
  });
});

describe('a server that goes away while a connection is being made', () => {
  let directory: string;
  let server: Server;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'hearth-dying-'));
  });
  afterEach(async () => {
    await new Promise((resolve) => server.close(resolve));
    rmSync(directory, { recursive: true, force: true });
  });

  it('costs the first statement, never the process', async () => {
    const sockets = new Set<Socket>();
    server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('data', () => {
        socket.write(Buffer.concat([authenticationOk, readyForQuery]));
        socket.once('data', () => socket.end(shuttingDown));
      });
    });
    await new Promise<void>((resolve) => server.listen(join(directory, '.s.PGSQL.5432'), resolve));
    const database = openDatabase({
      target: { kind: 'socket', directory, user: 'any', database: 'any' },
      applicationName: 'dying',
      maxConnections: 1,
      clock,
      log,
      transactionMs: 500,
    });
    // An unhandled rejection would fail the whole test run.
    const lost = await caught(Promise.race([database.sql`select 1`, clock.sleep(1_000)]));
    expect(lost === undefined || isConnectionLost(lost)).toBe(true);
    expect(sockets.size).toBeGreaterThan(1);
    for (const socket of sockets) socket.destroy();
    await database.close();
  });
});

const authenticationOk = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0]);
const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
const shuttingDown = errorResponse('SFATAL\0VFATAL\0C57P01\0Mshutting down\0\0');

function errorResponse(fields: string): Buffer {
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, Buffer.from(fields)]);
}

/** Writes until it is told to stop; answers what it lost on the way. */
async function insertOverLosses(
  database: Database,
  acknowledged: Set<number>,
  signal: AbortSignal,
): Promise<unknown[]> {
  const losses: unknown[] = [];
  while (!signal.aborted) {
    try {
      const rows = await database.transact(
        'insert',
        (tx) => tx<{ id: number }[]>`insert into acks default values returning id`,
      );
      for (const { id } of rows) acknowledged.add(id);
    } catch (error) {
      losses.push(error);
      await clock.sleep(20);
    }
  }
  return losses;
}

async function untilServed(database: Database): Promise<void> {
  for (;;) {
    const error = await caught(database.sql`select 1`);
    if (error === undefined) return;
    if (!isConnectionLost(error)) throw error;
    await clock.sleep(20);
  }
}

function openGate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
