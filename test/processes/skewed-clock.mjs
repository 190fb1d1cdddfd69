// Loaded before the program: the wall clock of this process goes wrong by TEST_CLOCK_SKEW_MS, and SIGUSR2 steps it by the next
// of TEST_CLOCK_STEPS_MS. What counts monotonically stays as it is, as it would on a machine whose clock is set.
const WallDate = Date;
let skewMs = Number(process.env.TEST_CLOCK_SKEW_MS ?? 0);
const steps = (process.env.TEST_CLOCK_STEPS_MS ?? '').split(',').filter(Boolean).map(Number);

globalThis.Date = class SkewedDate extends WallDate {
  constructor(...given) {
    if (given.length === 0) super(WallDate.now() + skewMs);
    else super(...given);
  }

  static now() {
    return WallDate.now() + skewMs;
  }
};

process.on('SIGUSR2', () => {
  skewMs += steps.shift() ?? 0;
});
