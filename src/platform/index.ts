// The platform room: time, chance, PostgreSQL, sockets and the log. It knows nothing of agents or federation.
export { FileTooLarge, readBoundedFile } from './bounded-file.js';
export * from './clock.js';
export {
  type Database,
  type DatabaseTarget,
  openDatabase,
  type Sql,
  type Tx,
} from './database.js';
export * from './database-error.js';
export { databaseAnswers, databaseFault, followDatabaseTime } from './database-time.js';
export { type EmbeddedPostgres, embeddedTarget, startEmbeddedPostgres } from './embedded-postgres.js';
export { gather } from './gather.js';
export { linkedAbort } from './linked-abort.js';
export { createLog, type Log, logLevels, roomLog } from './log.js';
export { migrate } from './migrate.js';
export { nextTurn } from './next-turn.js';
export { createWakeups, type Wakeups } from './notify.js';
export {
  createPeerHttp,
  PeerError,
  type PeerFault,
  type PeerHttp,
  type PeerRequest,
  type PeerResponse,
  type ResolveMap,
} from './peer-http.js';
export * from './random.js';
export { dumpSchema } from './schema-dump.js';
export { StartRefused } from './start-refused.js';
export { runWorker } from './worker.js';
