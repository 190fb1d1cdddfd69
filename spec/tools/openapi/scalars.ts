// What several answers are made of.
import { z } from 'zod';

export const text = z.string();
export const instant = z.string().meta({ format: 'date-time', description: 'YYYY-MM-DDTHH:MM:SS.sssZ' });
export const address = z.string().meta({ description: 'An address, such as agent://alpha.test/agents/echo' });
export const count = z.int().nonnegative();
export const json = z.unknown().meta({ description: 'Any JSON' });

/** A page of a list. */
export const pageOf = (item: z.ZodType) => z.strictObject({ items: z.array(item), next_cursor: text.nullable() });

/** Of a list by time, which is also read backwards. */
export const timedPageOf = (item: z.ZodType) =>
  z.strictObject({ items: z.array(item), next_cursor: text.nullable(), previous_cursor: text.nullable() });
