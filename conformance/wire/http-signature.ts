// HTTP Message Signatures (RFC 9421) in the profile of chapter 04: made, also wrongly on purpose, and verified.
import { randomBytes } from 'node:crypto';
import { base64url, contentDigestOf, fromBase64url } from './encoding.js';
import { type SigningKey, verifies } from './keys.js';

export type Fields = readonly (readonly [name: string, value: string])[];

export interface RequestToSign {
  readonly method: 'GET' | 'PUT';
  readonly targetUri: string;
  readonly body?: Uint8Array;
  readonly contentType?: string;
  readonly origin: string;
  readonly destination: string;
  readonly keyid: string;
  readonly key: SigningKey;
}

/** What is said instead of what the profile asks for. */
export interface SignatureFault {
  /** Component identifiers as they stand in Signature-Input, with their quotes. */
  readonly components?: readonly string[];
  /** Parameters to replace; undefined leaves one out. Numbers are written as integers, text in quotes. */
  readonly parameters?: Readonly<Record<string, string | number | undefined>>;
  /** Fields to replace before anything is signed, with further ones to cover. */
  readonly fields?: Readonly<Record<string, string>>;
  readonly signature?: (signature: Buffer) => Uint8Array;
}

export const putComponents = [
  '"@method"',
  '"@target-uri"',
  '"content-digest"',
  '"content-type"',
  '"fed-origin"',
  '"fed-destination"',
];
export const getComponents = ['"@method"', '"@target-uri"', '"fed-origin"', '"fed-destination"'];
const tag = 'agent-federation/1';

export function nowInSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

export function signRequest(request: RequestToSign, fault: SignatureFault = {}): [string, string][] {
  const fields: Record<string, string> = { 'fed-origin': request.origin, 'fed-destination': request.destination };
  if (request.method === 'PUT') {
    fields['content-digest'] = contentDigestOf(request.body ?? new Uint8Array());
    fields['content-type'] = request.contentType ?? 'application/json';
  }
  Object.assign(fields, fault.fields);
  const components = fault.components ?? (request.method === 'PUT' ? putComponents : getComponents);
  const created = nowInSeconds();
  const parameters = parametersOf({
    created,
    expires: created + 300,
    nonce: base64url(randomBytes(18)),
    keyid: request.keyid,
    alg: 'ed25519',
    tag,
    ...fault.parameters,
  });
  const inner = `(${components.join(' ')})${parameters}`;
  const base = baseOf({ ...request, components, inner, field: (name) => fields[name] ?? '' });
  const signature = fault.signature?.(request.key.sign(base)) ?? request.key.sign(base);
  return [
    ...Object.entries(fields),
    ['signature-input', `fed=${inner}`],
    ['signature', `fed=:${Buffer.from(signature).toString('base64')}:`],
  ];
}

function parametersOf(values: Readonly<Record<string, string | number | undefined>>): string {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `;${name}=${typeof value === 'number' ? value : `"${value}"`}`)
    .join('');
}

interface Base {
  method: string;
  targetUri: string;
  components: readonly string[];
  inner: string;
  field: (name: string) => string;
}

function baseOf({ method, targetUri, components, inner, field }: Base): string {
  const lines = components.map((component) => {
    const name = /^"([^"]*)"/.exec(component)?.[1] ?? '';
    const value = name === '@method' ? method : name === '@target-uri' ? targetUri : field(name);
    return `${component}: ${value}`;
  });
  return [...lines, `"@signature-params": ${inner}`].join('\n');
}

export interface ReceivedSignature {
  readonly components: readonly string[];
  readonly parameters: ReadonlyMap<string, string>;
  readonly fault: string | undefined;
}

export interface RequestToVerify {
  readonly method: string;
  readonly targetUri: string;
  readonly fields: Fields;
  readonly body: Uint8Array;
  /** Domain keys by kid. */
  readonly keys: ReadonlyMap<string, string>;
}

/** Reads the one signature of a request and says what does not hold about it. */
export function readSignature(request: RequestToVerify): ReceivedSignature {
  const valuesOf = (name: string) =>
    request.fields.filter(([field]) => field.toLowerCase() === name).map(([, value]) => value.trim());
  const field = (name: string) => valuesOf(name).join(', ');
  const [, label = '', inner = '', list = '', rest = ''] =
    /^([a-z*][a-z0-9_.*-]*)=((?:\(([^)]*)\))(.*))$/.exec(field('signature-input')) ?? [];
  const components = list === '' ? [] : list.split(' ');
  const parameters = new Map(
    [...rest.matchAll(/;([a-z]+)=(?:"([^"]*)"|([0-9]+))/g)].map(([, name = '', text, number]) => [
      name,
      text ?? number ?? '',
    ]),
  );
  const repeated = ['signature', 'signature-input', 'content-digest', 'content-type', 'fed-origin', 'fed-destination'];
  const twice = repeated.find((name) => valuesOf(name).length > 1);
  const sealed = new RegExp(`^${label}=:([A-Za-z0-9+/=]+):$`).exec(field('signature'))?.[1] ?? '';
  const base = baseOf({ ...request, components, inner, field });
  const x = request.keys.get(/^key:\/\/[^/]+\/domain\/(.+)$/.exec(parameters.get('keyid') ?? '')?.[1] ?? '');
  let fault: string | undefined;
  if (inner === '') fault = 'there is no signature-input with one signature';
  else if (twice !== undefined) fault = `${twice} appears twice`;
  else if (x === undefined) fault = `keyid ${parameters.get('keyid')} is no key of the bundle`;
  else if (!verifies(x, base, Buffer.from(sealed, 'base64'))) fault = 'the signature does not hold';
  return { components, parameters, fault };
}

export function nonceBytesOf(signature: ReceivedSignature): number {
  return fromBase64url(signature.parameters.get('nonce') ?? '')?.byteLength ?? 0;
}
