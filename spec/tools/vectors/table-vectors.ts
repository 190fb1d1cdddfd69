// The transition table as data, cell by cell: for each state, kind and party, where it leads or why not.
import {
  COMMITMENT_STATES,
  type CommitmentState,
  type Party,
  TRANSITION_KINDS,
  TRANSITION_TABLE,
  type TransitionKind,
} from '../../../src/protocol/index.js';
import { invalid, type Vector, type VectorFile, valid } from './vector-file.js';

const PARTIES: readonly Party[] = ['creditor', 'debtor', 'resolver'];

export function tableVectors(): VectorFile {
  return {
    about: 'Who may make which transition in which state. `both` needs the creditor and the debtor, each once.',
    vectors: COMMITMENT_STATES.flatMap((state) =>
      TRANSITION_KINDS.flatMap((kind) => PARTIES.map((party) => cell(state, kind, party))),
    ),
  };
}

function cell(state: CommitmentState, kind: TransitionKind, party: Party): Vector {
  const name = `${state}, ${kind} by the ${party}`;
  const rows = TRANSITION_TABLE.filter((row) => row.from === state && row.kind === kind);
  const row = rows.find(({ by }) => by === party || (by === 'both' && party !== 'resolver'));
  if (row)
    return valid(name, { state, kind, party, expect: { to: row.to, needs: row.by === 'both' ? 'both' : party } });
  return invalid(name, rows.length === 0 ? 'commitment_wrong_state' : 'commitment_wrong_party', { state, kind, party });
}
