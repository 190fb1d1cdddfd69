// The OpenAPI documents of both doors: routes and what they take from the code, what they answer from the shapes.
import type { z } from 'zod';
import type { Endpoint } from '../../../src/http/endpoint.js';
import { federationEndpoints } from '../../../src/http/federation-door.js';
import { privateEndpoints } from '../../../src/http/private-door.js';
import { jsonSchemaOf } from '../schemas.js';
import { ALPHA } from '../world.js';
import { agentOperations, federationOperations, type Operation } from './operations.js';
import { shapes } from './shapes.js';

export interface Door {
  title: string;
  description: string;
  endpoints: readonly Endpoint[];
  operations: Record<string, Operation>;
  /** How a request proves who it is of, unless its operation says otherwise. */
  security: 'bearer' | 'none';
}

/** Routes are made with parts that only their requests would use: here nobody asks. */
function routes(): { federation: Endpoint[]; agent: Endpoint[] } {
  const nothing = {
    random: { bytes: (length: number) => new Uint8Array(length) },
    domain: { name: ALPHA },
    gatewayUrl: 'https://alpha.test',
    db: {},
  };
  const parts = { gateway: nothing, software: 'hearth', health: {}, runtimes: {}, effects: {} };
  return {
    federation: federationEndpoints(parts as unknown as Parameters<typeof federationEndpoints>[0]),
    agent: privateEndpoints(parts as unknown as Parameters<typeof privateEndpoints>[0]),
  };
}

export function doors(): Record<'federation' | 'agent', Door> {
  const { federation, agent } = routes();
  return {
    federation: {
      title: 'Hearth, federation door',
      description:
        'What other domains and outside sources may call. The requirements are in the specification, agent-federation/1.',
      endpoints: federation,
      operations: federationOperations,
      security: 'none',
    },
    agent: {
      title: 'Hearth, agent and admin API',
      description: 'The private door, for the people, producers and operators of one domain.',
      endpoints: agent,
      operations: agentOperations,
      security: 'bearer',
    },
  };
}

export function openapiFiles(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(doors()).map(([name, door]) => [`${name}.json`, `${JSON.stringify(documentOf(door), null, 1)}\n`]),
  );
}

/** `GET /v1/runs/{id}` of a route `/v1/runs/:id`. */
export function operationId({ method, path }: Endpoint): string {
  return `${method} ${path.replace(/:([A-Za-z]+)/g, '{$1}')}`;
}

function documentOf(door: Door): object {
  const paths: Record<string, Record<string, object>> = {};
  const used = new Set<string>(['Problem']);
  for (const endpoint of door.endpoints) {
    const id = operationId(endpoint);
    const operation = door.operations[id];
    if (!operation) throw new TypeError(`no operation describes ${id}`);
    const [method = '', path = ''] = id.split(' ');
    if (typeof operation.answer === 'string') used.add(operation.answer);
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(endpoint, operation, door.security) };
  }
  const schemas = Object.fromEntries(
    Object.entries(shapes)
      .filter(([name]) => used.has(name))
      .map(([name, shape]) => [name, schemaOf(shape)]),
  );
  const components = {
    schemas,
    ...(door.security === 'bearer' && { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } }),
  };
  return {
    openapi: '3.1.0',
    info: { title: door.title, version: '1', description: door.description },
    paths,
    components,
  };
}

function operationOf({ path, takes, method }: Endpoint, operation: Operation, doorSecurity: Door['security']): object {
  const { summary, description, body, security } = operation;
  const parameters = [
    ...pathParameters(path),
    ...queryParameters(takes?.query),
    ...headerParameters(operation),
    ...keyParameter(method, doorSecurity),
  ];
  const requestBody = takes?.body
    ? { required: true, content: { 'application/json': { schema: schemaOf(takes.body) } } }
    : body && { required: true, description: body.description, content: { [body.mediaType]: {} } };
  return {
    operationId: `${method.toLowerCase()}${path.replace(/[^A-Za-z0-9]+(.)?/g, (_, next?: string) => (next ?? '').toUpperCase())}`,
    summary,
    ...(description === undefined ? {} : { description }),
    ...(doorSecurity === 'bearer' ? { security: security === 'none' ? [] : [{ bearer: [] }] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(requestBody ? { requestBody } : {}),
    responses: { ...answerOf(operation), default: problem() },
  };
}

function answerOf({ status = 200, answer, mediaType, summary }: Operation): Record<string, object> {
  const schema = typeof answer === 'string' ? reference(answer) : answer && schemaOf(answer);
  if (!schema && !mediaType) return { [status]: { description: summary } };
  return {
    [status]: { description: summary, content: { [mediaType ?? 'application/json']: schema ? { schema } : {} } },
  };
}

function problem(): object {
  return {
    description: 'Refused or failed',
    content: { 'application/problem+json': { schema: reference('Problem') } },
  };
}

function reference(name: string): object {
  return { $ref: `#/components/schemas/${name}` };
}

function pathParameters(path: string): object[] {
  return [...path.matchAll(/:([A-Za-z]+)/g)].map((match) => ({
    name: match[1],
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters(query: z.ZodType | undefined): object[] {
  if (!query) return [];
  const { properties = {}, required = [] } = jsonSchemaOf(query) as {
    properties?: Record<string, object>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
}

/** Every POST of the private door takes a key. */
function keyParameter(method: Endpoint['method'], doorSecurity: Door['security']): object[] {
  if (method !== 'POST' || doorSecurity !== 'bearer') return [];
  const description = 'The same key and body again, within 24 hours, get the first answer, and nothing is done twice';
  const schema = { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' };
  return [{ name: 'Idempotency-Key', in: 'header', required: false, description, schema }];
}

const SIGNATURE_HEADERS = ['Signature-Input', 'Signature', 'Fed-Origin', 'Fed-Destination'];

function headerParameters({ headers = {}, security }: Operation): object[] {
  const header = (name: string, description: string, required: boolean) => ({
    name,
    in: 'header',
    required,
    description,
    schema: { type: 'string' },
  });
  const own = Object.entries(headers).map(([name, description]) => header(name, description, security === 'webhook'));
  switch (security) {
    case 'signature':
    case 'optional signature':
      return [
        ...own,
        ...SIGNATURE_HEADERS.map((name) => header(name, 'See chapter 04, Requests', security === 'signature')),
      ];
    case 'webhook':
      return [...own, header('X-Hub-Signature-256', 'The HMAC of the body under the secret of the source', true)];
    default:
      return own;
  }
}

function schemaOf(schema: z.ZodType): object {
  const { $schema: _, ...rest } = jsonSchemaOf(schema);
  return rest;
}
