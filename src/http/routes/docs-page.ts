/** The OpenAPI document as a single page without scripts or external resources. */

import { escapeHtml } from '../server/html.ts'
import { type Field, fieldsOf, type Schema, typeOf } from './json-schema.ts'
import type { Documented, OpenApi } from './openapi-document.ts'

export function docsPage(document: OpenApi, mount: string): string {
  const { info, tags, components } = document
  const base = escapeHtml(mount)
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  const sections = tags.map(({ name, description }) => {
    const tagged = operations.filter(({ operation }) => operation.tags.includes(name))
    const articles = tagged.map(({ method, path, operation }) => operationHtml(method, mount + path, operation))
    return `<section id="${anchor(name)}"><h2>${escapeHtml(name)}</h2><p>${prose(description)}</p>${articles.join('')}</section>`
  })
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) =>
      `<article id="${schemaAnchor(name)}"><h3>${escapeHtml(name)}</h3><p>${prose(schema.description ?? '')}</p>` +
      `${fieldTable(fieldsOf(schema))}</article>`,
  )
  const links = [...tags.map(({ name }) => name), 'Records']
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escapeHtml(info.title)}: interface</title>`,
    `<link rel="icon" href="data:,"><link rel="stylesheet" href="${base}/api/docs/style.css"></head><body>`,
    `<header><h1>${escapeHtml(info.title)} <small>interface ${escapeHtml(info.version)}</small></h1>`,
    `<p>${prose(info.description)}</p>`,
    `<p>Machine-readable: <a href="${base}/api/openapi.json">OpenAPI ${escapeHtml(document.openapi)}</a>.</p>`,
    `<nav>${links.map((name) => `<a href="#${anchor(name)}">${escapeHtml(name)}</a>`).join('')}</nav></header>`,
    `<main>${sections.join('')}<section id="${anchor('Records')}"><h2>Records</h2>${schemas.join('')}</section></main>`,
    '</body></html>',
  ].join('\n')
}

function operationHtml(method: string, path: string, operation: Documented): string {
  const { parameters = [], requestBody, responses } = operation
  const body = requestBody?.content['application/json']?.schema
  const fields = parameters.map(({ name, required, schema, description }): Field => {
    return { name, isOptional: required !== true, schema: { ...schema, ...(description && { description }) } }
  })
  const successes = Object.entries(responses).filter(([status]) => Number(status) < 400)
  const errors = Object.entries(responses).filter(([status]) => Number(status) >= 400)
  const badge = `<b class="method ${escapeHtml(method.toLowerCase())}">${escapeHtml(method)}</b>`
  return [
    `<details id="${anchor(`${method} ${path}`)}"><summary>${badge} <code>${breakable(path)}</code> `,
    `<span>${prose(operation.summary)}</span></summary>`,
    `<p>${prose(operation.description)}</p>`,
    fields.length === 0 ? '' : `<h4>Parameters</h4>${fieldTable(fields)}`,
    body === undefined ? '' : `<h4>Body</h4>${fieldTable(fieldsOf(body))}`,
    '<h4>Responses</h4>',
    ...successes.map(([status, response]) => {
      const schema = response.content?.['application/json']?.schema
      return `<p><b>${escapeHtml(status)}</b> ${prose(response.description)}</p>${schema ? responseHtml(schema) : ''}`
    }),
    '<h4>Errors</h4><ul class="statuses">',
    ...errors.map(([status, { description }]) => `<li><b>${escapeHtml(status)}</b> ${prose(description)}</li>`),
    '</ul></details>',
  ].join('')
}

function responseHtml(schema: Schema): string {
  const parts = schema.anyOf ?? [schema]
  return parts
    .map((part) => {
      const fields = fieldsOf(part)
      const note = part.description === undefined ? '' : `: ${prose(part.description)}`
      return `<p>${typeHtml(part)}${note}</p>${fields.length === 0 ? '' : fieldTable(fields)}`
    })
    .join('')
}

function fieldTable(fields: readonly Field[]): string {
  const rows = fields.map(({ name, isOptional, schema }) => {
    const optional = isOptional ? ' <i>optional</i>' : ''
    return (
      `<tr><td><code>${breakable(name)}</code>${optional}</td><td>${typeHtml(schema)}</td>` +
      `<td>${prose(schema.description ?? '')}</td></tr>`
    )
  })
  return `<table><thead><tr><th>Name</th><th>Type</th><th>Description</th></tr></thead><tbody>${rows.join('')}</tbody></table>`
}

function typeHtml(schema: Schema): string {
  const names: string[] = []
  const typeText = typeOf(schema, (name) => `\u0000${names.push(name) - 1}\u0000`)
  return escapeHtml(typeText)
    .split('\u0000')
    .map((part, index) => (index % 2 === 0 ? part : link(names[Number(part)] ?? '')))
    .join('')
}

function link(name: string): string {
  return `<a href="#${schemaAnchor(name)}">${escapeHtml(name)}</a>`
}

function anchor(name: string): string {
  return escapeHtml(name.replace(/\W+/g, '-').toLowerCase())
}

function schemaAnchor(name: string): string {
  return `record-${anchor(name)}`
}

/** Escapes text and formats its `code` spans. */
function prose(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>')
}

/** Allows line breaks after a slash, a dot or an underscore. */
function breakable(text: string): string {
  return escapeHtml(text).replace(/[/._]/g, '$&<wbr>')
}
