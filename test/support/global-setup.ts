// One embedded PostgreSQL for the whole run; every test file makes its own database in it (see database.ts).
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { createLog, type DatabaseTarget, startEmbeddedPostgres, systemClock } from '../../src/platform/index.js';

declare module 'vitest' {
  export interface ProvidedContext {
    testPostgres: DatabaseTarget;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'hearth-test-'));
  // So that, as root, the server's own user may pass.
  chmodSync(dataDirectory, 0o711);
  const log = createLog({ level: 'warn' });
  const postgres = await startEmbeddedPostgres({ dataDirectory, clock: systemClock(), log });
  project.provide('testPostgres', postgres.target);
  return async () => {
    await postgres.stop();
    rmSync(dataDirectory, { recursive: true, force: true });
  };
}
