// Every file of vectors by its name. The same code makes the same bytes.
import { bundleVectors, keyValidityVectors } from './bundle-vectors.js';
import { certificateVectors } from './certificate-vectors.js';
import { discoveryVectors } from './discovery-vectors.js';
import { envelopeVectors } from './envelope-vectors.js';
import { canonicalVectors, strictVectors } from './json-vectors.js';
import { keyVectors, principalVectors, signatureVectors } from './key-vectors.js';
import { nameVectors } from './name-vectors.js';
import { receiptVectors } from './receipt-vectors.js';
import { requestVectors } from './request-vectors.js';
import { tableVectors } from './table-vectors.js';
import { answerVectors, transactionVectors } from './transaction-vectors.js';
import { transitionVectors } from './transition-vectors.js';
import type { VectorFile } from './vector-file.js';

export { transitionOfEntry } from './transition-vectors.js';

export async function vectorFiles(): Promise<Record<string, VectorFile>> {
  return {
    'names.json': nameVectors(),
    'strict-json.json': strictVectors(),
    'canonical-json.json': canonicalVectors(),
    'keys.json': keyVectors(),
    'signatures.json': signatureVectors(),
    'principal-ids.json': principalVectors(),
    'discovery.json': discoveryVectors(),
    'bundles.json': await bundleVectors(),
    'key-validity.json': keyValidityVectors(),
    'certificates.json': await certificateVectors(),
    'requests.json': await requestVectors(),
    'envelopes.json': await envelopeVectors(),
    'transactions.json': await transactionVectors(),
    'answers.json': answerVectors(),
    'receipts.json': await receiptVectors(),
    'transitions.json': await transitionVectors(),
    'transition-table.json': tableVectors(),
  };
}
