// PUT /federation/v1/transactions/{id}: one batch of a peer; the answer is kept and is the same for every repeat.
import { type Gateway, receiveTransaction } from '../../federation/index.js';
import { LIMITS, transactionFrameSchema } from '../../protocol/index.js';
import { type Endpoint, param } from '../endpoint.js';
import { rawBody } from '../middleware/body.js';
import { doorRequestOf } from './door-request.js';

export function putTransaction(gateway: Gateway): Endpoint {
  return {
    method: 'PUT',
    path: '/federation/v1/transactions/:id',
    takes: { body: transactionFrameSchema },
    async handle(ctx) {
      const body = await rawBody(ctx, { maxBytes: LIMITS.transactionBytes, mediaType: 'application/json' });
      const answer = await receiveTransaction(gateway, {
        ...doorRequestOf(ctx, 'PUT', body),
        transactionId: param(ctx, 'id'),
      });
      ctx.type = 'application/json';
      ctx.body = Buffer.from(answer);
    },
  };
}
