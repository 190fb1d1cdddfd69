// Reads TypeScript as text for the house rules: enough of the language to find imports, functions and their parameters.

export interface FoundFunction {
  name: string;
  line: number;
  lines: number;
  parameters: number;
}

/** The source with the inside of comments, strings, templates and regular expressions blanked; positions stay the same. */
export function blankLiterals(source: string): string {
  const out = source.split('');
  let at = 0;
  while (at < source.length) {
    const end = literalEnd(source, at);
    if (end === undefined) {
      at += 1;
      continue;
    }
    for (let index = at; index < end; index += 1) if (out[index] !== '\n') out[index] = ' ';
    at = end;
  }
  return out.join('');
}

/** Every module that the source names in an import, export-from or dynamic import. */
export function importsOf(source: string): string[] {
  const found = source.matchAll(
    /(?:^|\n)\s*(?:import|export)\b[^;'"`]*?from\s*'([^']+)'|\bimport\(\s*'([^']+)'|(?:^|\n)import\s*'([^']+)'/g,
  );
  return [...found].map((match) => match[1] ?? match[2] ?? match[3] ?? '');
}

/** Functions, methods and arrows with a body in braces, of source whose literals are blanked. */
export function functionsOf(blanked: string): FoundFunction[] {
  const found: FoundFunction[] = [];
  for (let at = blanked.indexOf('('); at !== -1; at = blanked.indexOf('(', at + 1)) {
    const close = matching(blanked, at, '()');
    if (close === undefined) continue;
    const body = bodyAfter(blanked, close + 1);
    const before = blanked.slice(Math.max(0, at - 120), at);
    if (body === undefined || !startsFunction(before, body.arrow)) continue;
    const end = matching(blanked, body.open, '{}') ?? blanked.length;
    const start = blanked.lastIndexOf('\n', at) + 1;
    found.push({
      name: /([\w$]+)\s*(?:<[^()]*>)?\s*$/.exec(before)?.[1] ?? 'anonymous',
      line: lineOf(blanked, start),
      lines: lineOf(blanked, end) - lineOf(blanked, start) + 1,
      parameters: countParameters(blanked.slice(at + 1, close)),
    });
  }
  return found;
}

export function lineOf(text: string, at: number): number {
  return text.slice(0, at).split('\n').length;
}

function literalEnd(source: string, at: number): number | undefined {
  const two = source.slice(at, at + 2);
  if (two === '//') return endOr(source, source.indexOf('\n', at));
  if (two === '/*') return endOr(source, source.indexOf('*/', at) + 2);
  const char = source[at];
  if (char === "'" || char === '"') return quotedEnd(source, at, char);
  if (char === '`') return templateEnd(source, at);
  if (char === '/' && /(?:^|[=(,:[!&|?{};>]|\breturn)\s*$/.test(source.slice(Math.max(0, at - 20), at)))
    return regexEnd(source, at);
  return undefined;
}

function endOr(source: string, end: number): number {
  return end <= 1 ? source.length : end;
}

function quotedEnd(source: string, start: number, quote: string): number {
  for (let at = start + 1; at < source.length; at += 1) {
    if (source[at] === '\\') at += 1;
    else if (source[at] === quote || source[at] === '\n') return at + 1;
  }
  return source.length;
}

function templateEnd(source: string, start: number): number {
  for (let at = start + 1; at < source.length; at += 1) {
    if (source[at] === '\\') at += 1;
    else if (source[at] === '`') return at + 1;
    else if (source.startsWith('${', at)) at = expressionEnd(source, at + 2);
  }
  return source.length;
}

function expressionEnd(source: string, start: number): number {
  let depth = 1;
  for (let at = start; at < source.length; at += 1) {
    const end = literalEnd(source, at);
    if (end !== undefined) at = end - 1;
    else if (source[at] === '{') depth += 1;
    else if (source[at] === '}') depth -= 1;
    if (depth === 0) return at;
  }
  return source.length;
}

function regexEnd(source: string, start: number): number {
  let inClass = false;
  for (let at = start + 1; at < source.length; at += 1) {
    const char = source[at];
    if (char === '\\') at += 1;
    else if (char === '[') inClass = true;
    else if (char === ']') inClass = false;
    else if (char === '\n') return start + 1;
    else if (char === '/' && !inClass) return at + 1;
  }
  return source.length;
}

function matching(text: string, open: number, pair: '()' | '{}'): number | undefined {
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    if (text[at] === pair[0]) depth += 1;
    else if (text[at] === pair[1]) depth -= 1;
    if (depth === 0) return at;
  }
  return undefined;
}

/** After a parameter list: an optional return type, then `{` or `=> {`. */
function bodyAfter(text: string, from: number): { open: number; arrow: boolean } | undefined {
  const rest = text.slice(from, from + 400);
  const match = /^\s*(?::\s*(?:[^;{}=]|\{[^{}]*\}(?=[[\]>|,\s&]))+?)?\s*(=>\s*)?(?<![<|,&:]\s*)\{/.exec(rest);
  return match ? { open: from + match[0].length - 1, arrow: match[1] !== undefined } : undefined;
}

function startsFunction(before: string, arrow: boolean): boolean {
  if (arrow) return true;
  const name = /([\w$]+)\s*(?:<[^()]*>)?\s*$/.exec(before)?.[1];
  if (name === undefined || ['if', 'for', 'while', 'switch', 'catch', 'with', 'await'].includes(name)) return false;
  return (
    !/(?:=|\?|return|\.|&&|\|\|)\s*(?:new\s+)?[\w$.]*\s*$/.test(before) || /function\s*\*?\s*[\w$]*\s*$/.test(before)
  );
}

function countParameters(list: string): number {
  let depth = 0;
  const parts = [''];
  for (const char of list.replace(/=>/g, '  ')) {
    if ('([{<'.includes(char)) depth += 1;
    if (')]}>'.includes(char)) depth -= 1;
    if (char === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += char;
  }
  return parts.filter((part) => part.trim() !== '').length;
}
