// GET /openapi.json and GET /docs on each door: its published description, as data and as a page.
import { readFile } from 'node:fs/promises';
import { docsPage, type OpenapiDocument } from './docs-page.js';
import type { Endpoint } from './endpoint.js';

export type DoorName = 'federation' | 'agent';

export function getOpenapi(door: DoorName): Endpoint {
  return {
    method: 'GET',
    path: '/openapi.json',
    async handle(ctx) {
      ctx.type = 'application/json';
      ctx.set('Cache-Control', 'public, max-age=300');
      ctx.body = await readDescription(door);
    },
  };
}

export function getDocs(door: DoorName): Endpoint {
  return {
    method: 'GET',
    path: '/docs',
    async handle(ctx) {
      const document = JSON.parse(await readDescription(door)) as OpenapiDocument;
      ctx.type = 'text/html';
      ctx.set('Cache-Control', 'public, max-age=300');
      // The page is text and style of its own: nothing is fetched, nothing runs.
      ctx.set('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
      ctx.body = docsPage(document);
    },
  };
}

/** Published with the specification; from `src` and from `dist` it is two folders up. */
function readDescription(door: DoorName): Promise<string> {
  return readFile(new URL(`../../spec/openapi/${door}.json`, import.meta.url), 'utf8');
}
