// The platform room: time, chance, PostgreSQL, sockets and the log. It knows nothing of agents or federation.
export * from './clock.js';
export {
  type Database,
  type DatabaseTarget,
  type Listening,
  type OpenDatabase,
  openDatabase,
  type Sql,
  type Tx,
} from './database.js';
export * from './database-error.js';
export { databaseAnswers, followDatabaseTime } from './database-time.js';
export { type EmbeddedPostgres, embeddedTarget, startEmbeddedPostgres } from './embedded-postgres.js';
export { createLog, type Log, type LogLevel, logLevels, roomLog } from './log.js';
export { migrate } from './migrate.js';
export { type CreateWakeups, createWakeups, type Wakeups, type Watch } from './notify.js';
export {
  type CreatePeerHttp,
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
export { type RunWorker, runWorker } from './worker.js';
