/** The Input Log: inputs as accepted, and their order per tenant. */
import type { Sql, Tx } from '../../platform/index.js';
import type { JsonObject, JsonValue } from '../../protocol/index.js';
import type {
  AgentInput,
  ControlVerb,
  Ingress,
  InputKind,
  InputPriority,
  Relationship,
  TrustClass,
} from './agent-input.js';

export interface InputRecord {
  home: string;
  id: string;
  tenant: string;
  kind: InputKind;
  type: string;
  source: string;
  sourceEventId: string;
  bodyDigest: string;
  principal: string;
  trustClass: TrustClass;
  priority: InputPriority;
  relationship: Relationship;
  dueAt: Date | null;
  idempotencyKey: string | null;
  subject: { environment_id?: string; resource?: string } | null;
  target: { agent?: string; session?: string; run?: string; conversation_id?: string } | null;
  control: { verb: ControlVerb; authority: string } | null;
  occurredAt: Date;
  receivedAt: Date;
  correlationId: string | null;
  causationId: string | null;
  dataContentType: string;
  data: JsonValue;
  position: number | null;
}

export interface InsertInput {
  id: string;
  ingress: Ingress;
  input: AgentInput;
  bodyDigest: string;
  occurredAt: Date;
}

/** The ids that were new; the others' sources have told of their events before. */
export async function insertInputs(tx: Tx, inputs: readonly InsertInput[]): Promise<ReadonlySet<string>> {
  const rows = await tx<{ id: string }[]>`
    insert into foundation.inputs (
      home, id, tenant, kind, type, source, source_event_id, body_digest, principal, trust_class, priority,
      relationship, due_at, subject, target, control, occurred_at, correlation_id, causation_id, idempotency_key, data_content_type, data)
    select home, id, tenant, kind, type, source, source_event_id, body_digest, principal, trust_class, priority,
           relationship, due_at, subject, target, control, occurred_at, correlation_id, causation_id, idempotency_key, data_content_type, data
      from jsonb_to_recordset(${tx.json(inputs.map(inputRow))})
           as i (home text, id text, tenant text, kind text, type text, source text, source_event_id text,
                 body_digest text, principal text, trust_class text, priority text,
                 relationship text, due_at timestamptz, subject jsonb, target jsonb, control jsonb,
                 occurred_at timestamptz, correlation_id text, causation_id text, idempotency_key text,
                 data_content_type text, data jsonb)
    on conflict on constraint inputs_source_event_unique do nothing
    returning id`;
  return new Set(rows.map((row) => row.id));
}

function inputRow({ id, ingress, input, bodyDigest, occurredAt }: InsertInput): JsonObject {
  const control = input.kind === 'control' && ingress.control ? { ...ingress.control } : null;
  // Absent members stay absent, and so null in the row.
  const given = { subject: input.subject, target: input.target, data: input.data };
  return {
    ...JSON.parse(JSON.stringify(given)),
    home: ingress.home,
    id,
    tenant: ingress.tenant,
    kind: input.kind,
    type: input.type,
    source: ingress.source,
    source_event_id: input.source_event_id,
    body_digest: bodyDigest,
    principal: ingress.principal,
    trust_class: ingress.trustClass,
    priority: ingress.priority ?? 'normal',
    relationship: ingress.relationship ?? 'known',
    due_at: ingress.dueAt?.toISOString() ?? null,
    control,
    occurred_at: occurredAt.toISOString(),
    correlation_id: input.correlation_id ?? null,
    causation_id: input.causation_id ?? null,
    idempotency_key: input.idempotency_key ?? null,
    data_content_type: input.data_content_type ?? 'application/json',
  };
}

export async function findBySourceEvent(
  sql: Sql,
  home: string,
  sourceEventId: string,
): Promise<{ id: string; bodyDigest: string } | undefined> {
  const [row] = await sql<{ id: string; bodyDigest: string }[]>`
    select id, body_digest
      from foundation.inputs
     where home = ${home} and source_event_id = ${sourceEventId}`;
  return row;
}

export async function selectInput(sql: Sql, home: string, id: string): Promise<InputRecord | undefined> {
  const [row] = await sql<InputRecord[]>`
    select ${inputColumns(sql)}
      from foundation.inputs i
     where i.home = ${home} and i.id = ${id}`;
  return row;
}

export function selectInputs(sql: Sql, named: readonly { home: string; id: string }[]): Promise<InputRecord[]> {
  return sql<InputRecord[]>`
    select ${inputColumns(sql)}
      from jsonb_to_recordset(${sql.json(named.map(({ home, id }) => ({ home, id })))}) as n (home text, id text)
      join foundation.inputs i on i.home = n.home and i.id = n.id`;
}

/** Tenants with inputs that are not numbered yet, or numbered and not decided on. */
export async function waitingTenants(sql: Sql, limit: number): Promise<string[]> {
  const rows = await sql<{ tenant: string }[]>`
    select tenant
      from (select tenant
              from foundation.inputs
             where position is null
             order by received_at, id
             limit ${limit}) unnumbered
     union
    (select tenant
       from foundation.input_log_heads
      where resolved_position < position
      limit ${limit})`;
  return rows.map((row) => row.tenant);
}

/** One at a time numbers and resolves a tenant's inputs; waits for another one. False when the tenant has no log yet. */
export async function lockLog(tx: Tx, tenant: string): Promise<boolean> {
  const rows = await tx`
    select 1
      from foundation.input_log_heads
     where tenant = ${tenant}
       for update`;
  return rows.length === 1;
}

export async function openLog(tx: Tx, tenant: string): Promise<void> {
  await tx`
    insert into foundation.input_log_heads (tenant)
    values (${tenant})
    on conflict (tenant) do nothing`;
}

/** Waits for whoever numbers and resolves this tenant's inputs now: what it was at work on can be seen afterwards. */
export async function awaitLog(tx: Tx, tenant: string): Promise<void> {
  await tx`
    select 1
      from foundation.input_log_heads
     where tenant = ${tenant}
       for share`;
}

/** Gives the inputs that have none their positions. The caller holds the log. */
export async function numberInputs(tx: Tx, { tenant, limit }: { tenant: string; limit: number }): Promise<void> {
  await tx`
    with head as (
      select position
        from foundation.input_log_heads
       where tenant = ${tenant}
    ), waiting as (
      select i.home, i.id, row_number() over (order by i.received_at, i.id) + head.position as position
        from foundation.inputs i
       cross join head
       where i.position is null and i.tenant = ${tenant}
       order by i.received_at, i.id
       limit ${limit}
    ), numbered as (
      update foundation.inputs i
         set position = w.position
        from waiting w
       where i.home = w.home and i.id = w.id and i.position is null
      returning i.home, i.id, i.position, i.type, i.subject ->> 'resource' as subject
    ), advanced as (
      update foundation.input_log_heads
         set position = position + (select count(*) from numbered)
       where tenant = ${tenant} and exists (select from numbered)
    )
    insert into foundation.input_log (tenant, position, home, input_id, type, subject)
    select ${tenant}, position, home, id, type, subject
      from numbered`;
}

export async function selectResolvedPosition(sql: Sql, tenant: string): Promise<number> {
  const [head] = await sql<{ resolvedPosition: number }[]>`
    select resolved_position
      from foundation.input_log_heads
     where tenant = ${tenant}`;
  return head?.resolvedPosition ?? 0;
}

export async function advanceResolvedPosition(tx: Tx, tenant: string, position: number): Promise<void> {
  await tx`
    update foundation.input_log_heads
       set resolved_position = ${position}, fan_out_after = null, fan_out_count = 0
     where tenant = ${tenant} and resolved_position < ${position}`;
}

/** What is numbered and not decided on, in order. The caller holds the log. */
export async function selectUnresolvedInputs(
  tx: Tx,
  { tenant, limit }: { tenant: string; limit: number },
): Promise<(InputRecord & { position: number })[]> {
  return tx<(InputRecord & { position: number })[]>`
    select ${inputColumns(tx)}
      from foundation.input_log l
      join foundation.inputs i on i.home = l.home and i.id = l.input_id
     where l.tenant = ${tenant}
       and l.position > (select resolved_position from foundation.input_log_heads where tenant = ${tenant})
     order by l.position
     limit ${limit}`;
}

function inputColumns(sql: Sql) {
  return sql`
    i.home, i.id, i.tenant, i.kind, i.type, i.source, i.source_event_id, i.body_digest, i.principal, i.trust_class, i.priority,
    i.relationship, i.due_at, i.idempotency_key, i.subject, i.target, i.control, i.occurred_at, i.received_at, i.correlation_id, i.causation_id,
    i.data_content_type, i.data, i.position`;
}
