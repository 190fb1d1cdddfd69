// Commits shared by what comes at the same time: what the floor's single senders have in common.

/** Group commit: whatever comes while one commit runs shares the next. One at a time, so that no two lock each other. */
export function shareCommits<Item, Done>(commit: (items: Item[]) => Promise<Done[]>): (item: Item) => Promise<Done> {
  let waiting: { item: Item; resolve(done: Done): void; reject(error: unknown): void }[] = [];
  let running = false;
  async function run(): Promise<void> {
    running = true;
    while (waiting.length > 0) {
      const taken = waiting;
      waiting = [];
      try {
        const done = await commit(taken.map(({ item }) => item));
        taken.forEach(({ resolve }, index) => void resolve(done[index] as Done));
      } catch (error) {
        for (const { reject } of taken) reject(error);
      }
    }
    running = false;
  }
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!running) void run();
    });
}
