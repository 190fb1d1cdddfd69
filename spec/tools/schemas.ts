// JSON Schemas (draft 2020-12) of every document on the wire, generated from the schemas that the code reads with.
import { z } from 'zod';
import {
  acceptBodySchema,
  certificateClaimsSchema,
  discoverySchema,
  domainBundleSchema,
  envelopeHeaderSchema,
  genesisRecordSchema,
  messageBodySchema,
  proposalSchema,
  receiptSchema,
  rejectBodySchema,
  reportBodySchema,
  requestBodySchema,
  signalSchema,
  transactionAnswerSchema,
  transactionFrameSchema,
  wireEnvelopeSchema,
} from '../../src/protocol/index.js';

const SCHEMAS: Record<string, { title: string; schema: z.ZodType }> = {
  discovery: { title: 'The document at /.well-known/agent-federation', schema: discoverySchema },
  bundle: { title: 'The payload of a domain bundle (typ bundle+jwt)', schema: domainBundleSchema },
  certificate: {
    title: "The claims of a certificate of an agent's key (typ agent-key+jwt)",
    schema: certificateClaimsSchema,
  },
  genesis: { title: 'The genesis record of a principal', schema: genesisRecordSchema },
  envelope: { title: 'An envelope as it travels', schema: wireEnvelopeSchema },
  'envelope-header': { title: 'The header of an envelope', schema: envelopeHeaderSchema },
  transaction: { title: 'The body of a transaction; its items are judged one by one', schema: transactionFrameSchema },
  signal: { title: 'A signal of a transaction', schema: signalSchema },
  answer: { title: 'The answer to a transaction', schema: transactionAnswerSchema },
  receipt: { title: 'The payload of a receipt (typ receipt+jwt)', schema: receiptSchema },
  proposal: { title: 'A proposal', schema: proposalSchema },
  'message-body': { title: 'The body of a message', schema: messageBodySchema },
  'request-body': { title: 'The body of a request', schema: requestBodySchema },
  'accept-body': { title: 'The body of an accept', schema: acceptBodySchema },
  'reject-body': { title: 'The body of a reject', schema: rejectBodySchema },
  'report-body': { title: 'The body of a report', schema: reportBodySchema },
};

/** File name to text, for `spec/schemas`. */
export function schemaFiles(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(SCHEMAS).map(([name, { title, schema }]) => {
      const { $schema, ...rest } = jsonSchemaOf(schema);
      return [`${name}.json`, `${JSON.stringify({ $schema, $id: `${name}.json`, title, ...rest }, null, 2)}\n`];
    }),
  );
}

/** What a writer may send; readers of open documents pass over other members. */
export function jsonSchemaOf(schema: z.ZodType): Record<string, unknown> {
  return { ...z.toJSONSchema(schema, { io: 'input', target: 'draft-2020-12', unrepresentable: 'any' }) };
}
