// An OpenAPI document as one plain page: each operation with what it takes and what it answers.

interface Schema {
  [member: string]: unknown;
}

interface Body {
  content?: Record<string, { schema?: Schema }>;
  description?: string;
}

interface Operation {
  summary?: string;
  description?: string;
  tags?: string[];
  parameters?: { name: string; in: string; required?: boolean; description?: string; schema?: Schema }[];
  requestBody?: Body;
  responses: Record<string, Body>;
}

export interface OpenapiDocument {
  info: { title: string; version: string; description: string };
  paths: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, Schema> };
}

export function docsPage({ info, paths, components }: OpenapiDocument): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ id: `${method} ${path}`, operation })),
  );
  const schemas = Object.entries(components?.schemas ?? {});
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${text(info.title)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${text(info.title)} <small>${text(info.version)}</small></h1>
<p>${text(info.description)}</p>
<nav><ul>${operations.map(({ id, operation }) => `<li><a href="#${anchor(id)}"><code>${text(id)}</code></a> ${text(operation.summary ?? '')}</li>`).join('\n')}</ul></nav>
${operations.map(({ id, operation }) => section(id, operation)).join('\n')}
<h2>Shapes</h2>
${schemas.map(([name, schema]) => `<section id="${anchor(name)}"><h3>${text(name)}</h3>${shape(schema)}</section>`).join('\n')}
</body>
</html>
`;
}

function section(id: string, operation: Operation): string {
  const { summary = '', description, parameters = [], requestBody, responses } = operation;
  return `<section id="${anchor(id)}">
<h2><code>${text(id)}</code></h2>
<p>${text(summary)}${description === undefined ? '' : `. ${text(description)}`}</p>
${parameters.length === 0 ? '' : `<table><tr><th>parameter</th><th>in</th><th>shape</th></tr>${parameters.map(parameterRow).join('')}</table>`}
${requestBody === undefined ? '' : `<h3>Takes</h3>${content(requestBody)}`}
<h3>Answers</h3>
${Object.entries(responses)
  .map(
    ([status, answer]) =>
      `<details><summary><b>${text(status)}</b> ${text(answer.description ?? '')}</summary>${content(answer)}</details>`,
  )
  .join('\n')}
</section>`;
}

function parameterRow(parameter: NonNullable<Operation['parameters']>[number]): string {
  const name = `<code>${text(parameter.name)}</code>${parameter.required ? ' (needed)' : ''}`;
  const about = parameter.description === undefined ? '' : ` ${text(parameter.description)}`;
  return `<tr><td>${name}</td><td>${text(parameter.in)}</td><td><code>${text(JSON.stringify(parameter.schema ?? {}))}</code>${about}</td></tr>`;
}

function content(body: Body): string {
  return Object.entries(body.content ?? {})
    .map(([type, { schema }]) => `<p><code>${text(type)}</code></p>${schema === undefined ? '' : shape(schema)}`)
    .join('');
}

/** A schema as JSON, with each reference a link to where it stands. */
function shape(schema: Schema): string {
  const shown = text(JSON.stringify(schema, null, 2));
  return `<pre>${shown.replace(/#\/components\/schemas\/([A-Za-z0-9]+)/g, (whole, name: string) => `<a href="#${anchor(name)}">${whole}</a>`)}</pre>`;
}

function anchor(id: string): string {
  return id.replace(/[^A-Za-z0-9]+/g, '-');
}

function text(value: string): string {
  return value
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2 { border-top: 1px solid #8886; padding-top: 1rem; }
pre { overflow-x: auto; background: #8881; padding: .75rem; border-radius: .3rem; }
td, th { text-align: left; vertical-align: top; padding: .2rem .8rem .2rem 0; }
td code { overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) { body { background: #111; color: #ddd; } a { color: #8bf; } }
`;
