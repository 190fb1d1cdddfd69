/** Every number of the wire. Defaults and hard ceilings at once: a domain may advertise less, never more. */

const KIB = 1024;
const MIB = 1024 * KIB;
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export const LIMITS = {
  jsonDepth: 32,

  domainBytes: 230,
  addressBytes: 255,
  nameBytes: 64,
  identifierBytes: 320,
  shortTextChars: 512,

  envelopeHeaderBytes: 16 * KIB,
  inlineBodyBytes: 48 * KIB,
  envelopeBytes: 64 * KIB,
  recipients: 50,
  hopChain: 16,
  envelopeLifetimeMs: 7 * DAY_MS,
  clockSkewMs: 300 * SECOND_MS,

  transactionBytes: 4 * MIB,
  transactionEnvelopes: 50,
  // Message and recipient pairs: their results must fit one receipt.
  transactionPairs: 1_000,
  transactionSignals: 100,
  transactionCertificates: 50,
  transactionsInFlight: 8,
  answerBytes: 1 * MIB,
  signalBytes: 64 * KIB,
  retryAfterS: 86_400,

  signatureWindowMs: 300 * SECOND_MS,
  // A nonce is remembered for twice the window: made 300 s ahead at most, valid for 300 s more.
  nonceMemoryMs: 600 * SECOND_MS,
  nonceBytesMin: 16,
  nonceBytesMax: 64,
  signatureFieldBytes: 2 * KIB,

  certificateBytes: 4 * KIB,
  certificateLifetimeMs: 24 * HOUR_MS,

  bundleBytes: 256 * KIB,
  bundleLifetimeMs: 7 * DAY_MS,
  bundleDefaultLifetimeMs: 24 * HOUR_MS,
  bundleKeys: 16,
  bundleRetiredKeys: 256,
  bundleRevocations: 1024,
  refreshHintS: 300,
  admittedKeys: 10_000,

  discoveryBytes: 50 * KIB,
  discoveryCacheMinMs: 5 * MINUTE_MS,
  discoveryCacheMaxMs: 48 * HOUR_MS,
  discoveryFailureMs: 1 * HOUR_MS,

  objectBytes: 25 * MIB,
  // Holds the results for 1,000 recipients with the longest names.
  receiptBytes: 640 * KIB,
  evidenceItems: 16,
  evidenceInlineBytes: 16 * KIB,
  textBytes: 32 * KIB,
  dedupeMemoryMs: 7 * DAY_MS,
} as const;
