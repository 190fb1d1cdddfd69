// Refuses HTTP that is readable and still wrong: no Host, or NUL in the URL, which PostgreSQL cannot even compare with (BR-88).
import type { Middleware } from 'koa';
import { Problem } from '../../protocol/index.js';
import type { DoorState } from '../endpoint.js';

export const plainHttp: Middleware<DoorState> = async (ctx, next) => {
  if (ctx.req.httpVersion === '1.1' && ctx.req.headers.host === undefined) {
    throw new Problem('malformed_request', 'HTTP/1.1 needs a Host field');
  }
  if (ctx.originalUrl.includes('%00')) throw new Problem('malformed_request', 'the URL holds NUL (%00)');
  await next();
};
