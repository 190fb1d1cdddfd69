// POST /v1/runs/{id}/controls: becomes a control input; what it does is decided where every other input is (F19, F8).
import { z } from 'zod';
import { controlVerbs, parseAgentInput } from '../../foundation/index.js';
import { canonicalize, type JsonValue, toBase64url, toUtf8 } from '../../protocol/index.js';
import type { InputDoor } from '../accept-at-door.js';
import { callerOf, type Endpoint } from '../endpoint.js';
import { jsonBody } from '../middleware/body.js';
import type { Access } from './access.js';
import { requireRun } from './require-run.js';

const shape = z.strictObject({
  verb: z.enum(controlVerbs),
  data: z.custom<JsonValue>(() => true).optional(),
  /** The same id again is the same control. */
  control_id: z.string().min(1).max(128).optional(),
});

export function postControl(deps: Access & InputDoor): Endpoint {
  return {
    method: 'POST',
    path: '/v1/runs/:id/controls',
    takes: { body: shape },
    async handle(ctx) {
      const caller = callerOf(ctx);
      const { run } = await requireRun(deps, ctx);
      const { verb, data, control_id } = await jsonBody(ctx, shape);
      const sourceEventId = `control/${control_id ?? toBase64url(deps.random.bytes(15))}`;
      const input = parseAgentInput({
        kind: 'control',
        type: `control.${verb}`,
        source_event_id: sourceEventId,
        target: { run: run.id },
        ...(data === undefined ? {} : { data }),
      });
      const { inputId, duplicate } = await deps.accept({
        ingress: {
          tenant: caller.tenant,
          home: caller.home,
          source: caller.address,
          principal: caller.address,
          trustClass: 'instruction',
          control: { verb, authority: caller.address },
        },
        input,
        body: toUtf8(canonicalize({ verb, ...(data === undefined ? {} : { data }) })),
        contentType: 'application/json',
        facts: { transport: 'http', run_id: run.id },
      });
      ctx.status = 202;
      ctx.body = { input_id: inputId, duplicate };
    },
  };
}
