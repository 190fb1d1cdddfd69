// A whole domain in this process for one test file: both doors on free ports, its own fresh database, stopped at the end.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { loadConfig } from '../../src/config.js';
import { type Announcement, type RunningDomain, type StartDomain, startDomain } from '../../src/domain.js';
import { createLog, followDatabaseTime, systemClock, systemRandom } from '../../src/platform/index.js';
import type { JsonObject, JsonValue } from '../../src/protocol/index.js';
import { createTestDatabase, type TestDatabase } from './database.js';

export interface TestDomain {
  running: RunningDomain;
  test: TestDatabase;
  operatorToken: string;
  announced: Announcement[];
  /** Every line that was logged, for canaries. */
  logLines: string[];
  /** One request to the private door, as the operator unless another token is given. */
  api(method: string, path: string, options?: ApiOptions): Promise<ApiAnswer>;
  stop(): Promise<void>;
}

export interface ApiOptions {
  body?: unknown;
  token?: string;
  headers?: Record<string, string>;
}

export interface ApiAnswer {
  status: number;
  headers: Headers;
  body: JsonObject;
  /** One text member, by its path. */
  text(...path: string[]): string;
}

export interface StartTestDomain {
  domain?: string;
  env?: Record<string, string>;
  interpose?: StartDomain['interpose'];
}

export async function startTestDomain({
  domain = 'alpha.test',
  env = {},
  interpose,
}: StartTestDomain = {}): Promise<TestDomain> {
  const test = await createTestDatabase({ maxConnections: 12 });
  const directory = await mkdtemp(join(tmpdir(), 'hearth-test-'));
  const clock = systemClock();
  await followDatabaseTime(test.database.sql, clock);
  const announced: Announcement[] = [];
  const logLines: string[] = [];
  const running = await startDomain({
    config: loadConfig({
      HEARTH_DOMAIN: domain,
      HEARTH_DATA_DIRECTORY: directory,
      HEARTH_FEDERATION_PORT: '0',
      HEARTH_API_PORT: '0',
      ...env,
    }),
    clock,
    random: systemRandom(),
    log: createLog({ level: 'debug', stream: linesInto(logLines) }),
    announce: (announcement) => announced.push(announcement),
    store: {
      database: test.database,
      where: 'a test database',
      postmasterPid: () => undefined,
      close: () => test.drop(),
    },
    ...(interpose ? { interpose } : {}),
  });
  const operator = announced.find((announcement) => announcement.kind === 'operator');
  const operatorToken = operator?.operator.token ?? '';
  return {
    running,
    test,
    operatorToken,
    announced,
    logLines,
    api: (method, path, options = {}) =>
      callDoor(method, `${running.urls.api}${path}`, { token: operatorToken, ...options }),
    async stop() {
      await running.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** One request to any door; the answer is JSON or nothing. */
export async function callDoor(
  method: string,
  url: string,
  { body, token, headers }: ApiOptions = {},
): Promise<ApiAnswer> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(token === undefined || token === '' ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const answer: JsonObject = text === '' ? {} : JSON.parse(text);
  return {
    status: response.status,
    headers: response.headers,
    body: answer,
    text: (...path) =>
      String(
        path.reduce<JsonValue | undefined>((value, member) => (isObject(value) ? value[member] : undefined), answer),
      ),
  };
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function linesInto(lines: string[]): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString('utf8'));
      done();
    },
  });
}
