// A start that cannot go on for a reason the operator can mend. The message is a whole sentence that says how.

export class StartRefused extends Error {
  override readonly name: string = 'StartRefused';
}
