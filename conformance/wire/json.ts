// Reading JSON of which nothing is known: a member by its path, or undefined.

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function memberOf(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (at, step) =>
      typeof at === 'object' && at !== null && Object.hasOwn(at, step) ? Reflect.get(at, step) : undefined,
    value,
  );
}

/** The text there, or an empty one. */
export function textOf(value: unknown, ...path: readonly (string | number)[]): string {
  const found = memberOf(value, ...path);
  return typeof found === 'string' ? found : '';
}

/** The list there, or an empty one. */
export function listOf(value: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const found = memberOf(value, ...path);
  return Array.isArray(found) ? found : [];
}
