// Text for a terminal. Names and messages come from strangers: nothing of theirs may move the cursor, set a title or turn
// the direction of reading, so every control and format character is written as an escape.

const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/gu;
const UNPRINTABLE_IN_JSON = /[\p{Cf}\p{Zl}\p{Zp}\u007f-\u009f]/gu;

/** One line of text without anything that a terminal would act on. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escapeCharacter);
}

/** JSON that means the same to a parser and is safe on a terminal. */
export function printableJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(UNPRINTABLE_IN_JSON, escapeCharacter);
}

export type Column<Row> = { readonly title: string; value(row: Row): unknown };

/** Columns as wide as their widest cell; the last is not padded. An empty list says so in words. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  if (rows.length === 0) return 'Nothing to show.\n';
  const cells = rows.map((row) => columns.map((column) => cell(column.value(row))));
  const lines = [columns.map((column) => column.title), ...cells];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => widthOf(line[index] ?? ''))));
  return lines
    .map(
      (line) =>
        `${line
          .map((text, index) => pad(text, widths[index] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

/** Names and values under each other, for one thing shown at length. */
export function sheet(fields: readonly (readonly [name: string, value: unknown])[]): string {
  const shown = fields.filter(([, value]) => value !== undefined && value !== null);
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${pad(name, width)}  ${cell(value)}\n`).join('');
}

/** Cut for a table, with a mark that it was cut. */
export function shorten(text: string, width: number): string {
  const characters = [...text];
  return characters.length <= width ? text : `${characters.slice(0, width - 1).join('')}…`;
}

function cell(value: unknown): string {
  if (value === undefined || value === null || value === '') return '-';
  if (typeof value === 'string') return printable(value);
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(cell).join(', ');
  return typeof value === 'object' ? printableJson(value) : String(value);
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

function widthOf(text: string): number {
  return [...text].length;
}

/** In UTF-16 units, so that the escape is also right inside a JSON string. */
function escapeCharacter(character: string): string {
  return Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('');
}
