// Every scenario, in the order in which they are played.
import type { Scenario } from '../scenario.js';
import { asking } from './asking.js';
import { certificates } from './certificates.js';
import { directory } from './directory.js';
import { doubtfulAnswers } from './doubtful-answers.js';
import { envelopes } from './envelopes.js';
import { failingPeer } from './failing-peer.js';
import { interactions } from './interactions.js';
import { keyChanges } from './key-changes.js';
import { openDoor } from './open-door.js';
import { privateDoor } from './private-door.js';
import { promising } from './promising.js';
import { readingBundles } from './reading-bundles.js';
import { readingDiscovery } from './reading-discovery.js';
import { requestSignatures } from './request-signatures.js';
import { selfDescription } from './self-description.js';
import { sending } from './sending.js';
import { strangers } from './strangers.js';
import { strictJson } from './strict-json.js';
import { transactions } from './transactions.js';
import { trust } from './trust.js';

export const scenarios: readonly Scenario[] = [
  selfDescription,
  openDoor,
  requestSignatures,
  strictJson,
  transactions,
  envelopes,
  certificates,
  interactions,
  asking,
  strangers,
  directory,
  readingDiscovery,
  readingBundles,
  keyChanges,
  sending,
  promising,
  trust,
  doubtfulAnswers,
  failingPeer,
  privateDoor,
];
