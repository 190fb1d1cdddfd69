// Chance as a port: the system's generator in production, a seeded one in simulations.
import { createHash, randomBytes } from 'node:crypto';

export interface Random {
  bytes(count: number): Uint8Array;
  /** A number in [min, max). */
  uniform(min: number, max: number): number;
}

const poolBytes = 4_096;

/** Drawn from the system in larger portions, because each draw has its price; no byte is given out twice. */
export function systemRandom(): Random {
  let pool = Buffer.alloc(0);
  return randomFrom((count) => {
    if (count > poolBytes) return randomBytes(count);
    if (pool.length < count) pool = randomBytes(poolBytes);
    const taken = pool.subarray(0, count);
    pool = pool.subarray(count);
    return taken;
  });
}

/** The same bytes in the same order for the same seed, on every machine. Not for keys. */
export function seededRandom(seed: number): Random {
  let block = 0;
  let pool = Buffer.alloc(0);
  return randomFrom((count) => {
    while (pool.length < count) {
      pool = Buffer.concat([pool, createHash('sha256').update(`${seed}:${block}`).digest()]);
      block += 1;
    }
    const taken = pool.subarray(0, count);
    pool = pool.subarray(count);
    return taken;
  });
}

function randomFrom(take: (count: number) => Buffer): Random {
  return {
    bytes: (count) => new Uint8Array(take(count)),
    uniform: (min, max) => min + (take(6).readUIntBE(0, 6) / 2 ** 48) * (max - min),
  };
}
