// One row a figure: what was measured, what it is compared with, and the aim beside it.

export interface Figure {
  name: string;
  /** As shown, unit included. */
  value: string;
  ratePerS?: number;
  p50Ms?: number;
  p99Ms?: number;
  cpuMsPerItem?: number;
  /** Of the floor's rate in the same run. */
  ratio?: number;
  /** Of the floor's processor time for one: how many times as much is used here. */
  cpuRatio?: number;
  aim?: string;
}

const columns = ['what', 'figure', 'p50 / p99 ms', 'cpu ms each', 'of floor: rate', 'cpu', 'aim'];

export function printTable(figures: readonly Figure[]): void {
  const rows = [
    columns,
    ...figures.map((figure) => [
      figure.name,
      figure.value,
      figure.p50Ms === undefined ? '' : `${round(figure.p50Ms)} / ${round(figure.p99Ms ?? Number.NaN)}`,
      figure.cpuMsPerItem === undefined ? '' : figure.cpuMsPerItem.toFixed(2),
      figure.ratio === undefined ? '' : figure.ratio.toFixed(2),
      figure.cpuRatio === undefined ? '' : `${figure.cpuRatio.toFixed(2)} ×`,
      figure.aim ?? '',
    ]),
  ];
  const widths = columns.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows) {
    process.stdout.write(
      `${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
  }
}

function round(ms: number): string {
  return ms >= 10 ? ms.toFixed(0) : ms.toFixed(1);
}
