// The OpenAPI documents: what the code gives, every route in them and nothing else, and both served as data and as a page.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { doors, openapiFiles, operationId } from '../../spec/tools/openapi/documents.js';

const folder = join(import.meta.dirname, '../../spec/openapi');
const files = openapiFiles();

test.each(Object.keys(files))('%s is what the code gives', async (name) => {
  await expect(files[name]).toMatchFileSnapshot(join(folder, name));
});

test('there are no other documents', () => {
  expect(readdirSync(folder).sort()).toEqual(Object.keys(files).sort());
});

describe.each(Object.entries(doors()))('%s', (name, door) => {
  const document = JSON.parse(files[`${name}.json`] ?? '') as { paths: Record<string, Record<string, unknown>> };
  const published = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );

  test('every registered route is in it, and the reverse', () => {
    expect(published.sort()).toEqual(door.endpoints.map(operationId).sort());
    expect(Object.keys(door.operations).sort()).toEqual(published.sort());
  });

  test('a route that changes something and takes JSON says which', () => {
    const bodiless = /\/(pause|resume|end|revoke|block)$/;
    const taking = door.endpoints.filter(
      ({ method, path }) => /POST|PUT/.test(method) && !bodiless.test(path) && !path.startsWith('/webhooks'),
    );
    expect(taking.filter(({ takes }) => !takes?.body).map(operationId)).toEqual([]);
  });
});
