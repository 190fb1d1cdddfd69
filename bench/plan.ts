// How much of everything one run does.

export interface Plan {
  /** For data directories; removed at the end. */
  directory: string;
  rounds: number;
  /** 1 for the figures to quote; less for a quick look. */
  scale: number;
  say(line: string): void;
}
