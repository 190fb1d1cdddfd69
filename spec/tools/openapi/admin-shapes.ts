// What the admin API answers.
import { z } from 'zod';
import { address, count, instant, json, text } from './scalars.js';

const principal = {
  address,
  kind: z.enum(['agent', 'human', 'service']),
  name: text,
  principal_id: text,
  home: text,
  tenant: text,
  display_name: text,
  roles: z.array(text),
  visibility: z.enum(['public', 'peers', 'hidden']),
  status: text,
  created_at: instant,
};
export const Principal = z.strictObject(principal);
export const PrincipalMade = z.strictObject({ principal: Principal, recovery_key: text });

export const Domain = z.strictObject({
  domain: text,
  fingerprint: text,
  incarnation: text,
  gateway: text,
  federation_url: text,
  api_url: text,
  bundle_sequence: z.union([count, text]),
  key_encryption_key_id: text,
  created_at: instant,
});

export const AgentHome = z.strictObject({
  agent_id: address,
  address,
  name: text,
  principal_id: text,
  home_domain: text,
  owner: address,
  status: text,
  key_refs: z.array(text),
  mailbox_ref: text,
  memory_refs: z.array(text),
  relationship_refs: z.array(text),
  capability_grants: z.array(json),
  commitment_cursor: count,
  runtime_lineage_ref: text,
  placement_lease_id: text.nullable(),
  placement_epoch: count.nullable(),
  environment_refs: z.array(text),
  latest_audit_cursor: text.nullable(),
  runtime: z.strictObject({ id: text, config: json }),
  attention: z.strictObject({
    when_active: text,
    lane_order: text,
    merge_window_ms: count,
    strangers: text,
    stale_after_ms: count.nullable(),
    budget: z.strictObject({ wakes: count, window_ms: count }).nullable(),
    duplicate_window_ms: count.nullable(),
    urgent_within_ms: count.nullable(),
    least_worth: z.number().int().nullable(),
  }),
});
export const AgentMade = z.strictObject({ agent: AgentHome, recovery_key: text });

export const SubscriptionMade = z.strictObject({
  id: text,
  type: text,
  subject: text.nullable(),
  when_active: text.nullable(),
  priority: text,
});
export const Subscription = SubscriptionMade.extend({ created_at: instant });

export const SourceMade = PrincipalMade.extend({
  webhook: z.strictObject({ adapter: text, url: text, secret: text }).optional(),
});
export const Source = z.strictObject({
  ...principal,
  webhook: z.strictObject({ adapter: text, url: text }).nullable(),
});

export const Credential = z.strictObject({
  id: text,
  kind: z.enum(['producer', 'person', 'operator']),
  address: address.nullable(),
  source: text.nullable(),
  label: text,
  expires_at: instant.nullable(),
  revoked_at: instant.nullable(),
  created_at: instant,
});
export const CredentialMade = z.strictObject({ credential: Credential, token: text });
export const CredentialRevoked = z.strictObject({ id: text, revoked: z.literal(true) });

export const Peer = z.strictObject({
  domain: text,
  relationship: z.enum(['pinned', 'stranger', 'blocked']),
  fingerprint: text.nullable(),
  gateway: text.nullable(),
  bundle_sequence: text.nullable(),
  bundle_fetched_at: instant.nullable(),
  held_reason: text.nullable(),
  last_error: text.nullable(),
  delivery: z
    .strictObject({
      queued: count,
      failures: count,
      failing_since: instant.nullable(),
      next_attempt_at: instant.nullable(),
      last_success_at: instant.nullable(),
      last_error: text.nullable(),
      last_error_at: instant.nullable(),
    })
    .nullable(),
});
export const PeerPinned = Peer.extend({
  look: z.union([
    z.strictObject({ ok: z.literal(true) }),
    z.strictObject({ ok: z.literal(false), reason: text, detail: text }),
  ]),
});

export const OutboxItem = z.strictObject({
  peer: text,
  position: count,
  message_id: text,
  sender: address,
  recipients: z.array(address),
  conversation_id: text,
  effect_id: text.nullable(),
  status: z.enum(['queued', 'delivered', 'parked', 'rejected', 'dead']),
  attempt: count,
  reason_code: text.nullable(),
  queued_at: instant,
  expires_at: instant,
  settled_at: instant.nullable(),
});

export const QuarantineItem = z.strictObject({
  peer: text,
  message_id: text,
  sender: address,
  recipient: address,
  bytes: count,
  received_at: instant,
  expires_at: instant,
});
export const QuarantineDropped = z.strictObject({ domain: text, dropped: count });
