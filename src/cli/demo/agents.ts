/**
 * The two agents of the demo, as programs for the scripted runtime. The release manager asks for an audit and waits;
 * the auditor promises, does one thing in the outside world, and reports with evidence.
 */
import type { JsonObject } from '../../protocol/index.js';

export const managerAddress = 'agent://alpha.test/agents/release-manager';
export const auditorAddress = 'agent://beta.test/agents/release-auditor';

export const managerScript: JsonObject = {
  rules: [
    {
      when: { type: 'github.release.published' },
      steps: [
        {
          say: 'release {{/activation/data/release/tag_name}} of {{/activation/data/repository/full_name}} wants an audit',
        },
        {
          propose: {
            id: 'ask',
            action: 'interaction.request',
            target: auditorAddress,
            input: {
              action: 'audit.release',
              subject:
                'release://alpha.test/{{/activation/data/repository/full_name}}/{{/activation/data/release/tag_name}}',
              content: { tag: { $ref: '/activation/data/release/tag_name' } },
              deadline_in_s: 3600,
              evidence_policy: { required_artifacts: ['audit-report'] },
            },
          },
        },
        {
          suspend: {
            reason: 'waiting_for_audit',
            until: [{ type: 'interaction.report', subject: '{{/vars/ask/result/commitment_id}}' }],
          },
        },
        {
          propose: {
            id: 'take',
            action: 'interaction.accept',
            target: auditorAddress,
            input: { accepts: 'report', commitment_id: { $ref: '/vars/ask/result/commitment_id' } },
          },
        },
        { complete: { audited: { $ref: '/vars/ask/result/commitment_id' } } },
      ],
    },
  ],
};

/** @param workUrl where the auditor does its one thing in the outside world */
export function auditorScript(workUrl: string): JsonObject {
  return {
    rules: [
      {
        when: { type: 'interaction.request' },
        steps: [
          {
            propose: {
              id: 'promise',
              action: 'interaction.accept',
              target: managerAddress,
              input: { accepts: 'proposal', commitment_id: { $ref: '/activation/commitment_id' } },
            },
          },
          {
            propose: {
              id: 'audit',
              action: 'http.post',
              target: workUrl,
              input: { body: { audit: { $ref: '/activation/commitment_id' } } },
            },
          },
          { require: { of: { $ref: '/vars/audit/status' }, equals: 'succeeded' } },
          {
            propose: {
              id: 'tell',
              action: 'interaction.report',
              target: managerAddress,
              input: {
                commitment_id: { $ref: '/activation/commitment_id' },
                summary: 'audit number {{/vars/audit/result/number}} found nothing wrong',
                evidence: [
                  {
                    name: 'audit-report',
                    content_type: 'text/plain',
                    content: 'audit number {{/vars/audit/result/number}}: no findings',
                  },
                ],
              },
            },
          },
          { complete: { reported: { $ref: '/activation/commitment_id' } } },
        ],
      },
    ],
  };
}
