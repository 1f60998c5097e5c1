/** The OpenAPI document: what routes check bodies with, and the table of `openapi.ts`. */

import fastifySwagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { localPermissions, type Permission, permissions } from '../model/access.ts'
import type { ErrorBody } from '../model/errors.ts'
import { listOf, named, schemaOf, text, whole } from './described.ts'
import { hoist, type Schema } from './json-schema.ts'
import { type Operation, operations, tags } from './openapi.ts'

interface Answer {
  readonly description: string
  readonly content?: { readonly 'application/json': { readonly schema: Schema } }
}

export interface Documented {
  readonly tags: readonly string[]
  readonly summary: string
  readonly description: string
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly required?: boolean
    readonly description?: string
    readonly schema: Schema
  }[]
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } }
  readonly responses: Readonly<Record<string, Answer>>
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
}

export interface OpenApi {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly servers: readonly { readonly url: string }[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Documented>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly securitySchemes: Readonly<Record<string, object>>
  }
}

export interface DocumentOptions {
  readonly mount: string
  readonly version: string
}

/** Listens for routes: call it before any is added. */
export async function documentRoutes(app: FastifyInstance, { mount, version }: DocumentOptions): Promise<void> {
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Micwatch', version, description: introduction },
      servers: [{ url: mount === '' ? '/' : mount }],
      tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
      components: { securitySchemes },
    },
    transform({ schema, url, route }) {
      const path = url.slice(mount.length).replace(/:(\w+)/g, '{$1}')
      const method = String(route.method)
      const isOurs = url.startsWith(`${mount}/api/`) && schema?.hide !== true
      if (!isOurs) return { url, schema: { ...schema, hide: true } }
      const operation: Operation | undefined = operations[`${method} ${path}`]
      const isReading = method === 'GET'
      const needs = route.config?.needs ?? (isReading ? 'read' : 'operate')
      const told = {
        ...schema,
        tags: operation === undefined ? [] : [operation.tag],
        summary: operation?.summary ?? '',
        description: sayNeeds(needs),
        security: securityOf(needs, isReading),
        ...(operation?.query && { querystring: { type: 'object', properties: operation.query } }),
        ...(path.includes('{') && { params: { type: 'object', properties: paramsOf(path) } }),
      }
      return { url, schema: told }
    },
  })
}

/** Once the service is ready. */
export function makeDocument(app: FastifyInstance): OpenApi {
  return finish(app.swagger() as unknown as OpenApi)
}

const introduction = [
  'A live monitor for wireless microphones.',
  'A trailing slash is optional, and bodies are `application/json`.',
  'Lists are bare arrays; with `page` or `page_size` they come page by page.',
  'Refusals have the body `Error`; every 429 and 503 has `Retry-After`.',
  'Real-time updates come over the WebSocket at `/ws`, which docs/websocket.md describes.',
].join(' ')

const securitySchemes = {
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-micwatch_sid',
    description:
      'The cookie of a sign-in. Without TLS its name is `micwatch_sid_<port>`. With `server.public_url` the name ends ' +
      'with that address: `__Host-micwatch_sid_mics.example`.',
  },
  csrf: {
    type: 'apiKey',
    in: 'header',
    name: 'X-CSRF-Token',
    description: 'Beside the cookie with every write: the `csrf_token` of the sign-in.',
  },
  token: { type: 'http', scheme: 'bearer', description: 'An API token.' },
} as const

function securityOf(needs: Permission | 'nothing', isReading: boolean): Record<string, string[]>[] {
  if (needs === 'nothing') return []
  const session: Record<string, string[]> = isReading ? { session: [] } : { session: [], csrf: [] }
  return [...(localPermissions.includes(needs) ? [{}] : []), session, { token: [] }]
}

function sayNeeds(needs: Permission | 'nothing'): string {
  if (needs === 'nothing') return 'Open to anybody.'
  const local = localPermissions.includes(needs) ? ' A listener on this machine alone asks for no credentials.' : ''
  return `Needs the permission \`${needs}\`: role ${permissions[needs]} or above.${local}`
}

function paramsOf(path: string): Record<string, object> {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  return Object.fromEntries(
    names.map((name) => [
      name,
      name === 'id'
        ? { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'Id of the record.' }
        : { type: 'string', description: 'Code of the manufacturer.' },
    ]),
  )
}

// --- Answers ----------------------------------------------------------------------------------------------------------

const meanings: Readonly<Record<string, string>> = {
  200: 'Done.',
  201: 'Created.',
  204: 'Done; there is nothing to say.',
  304: 'Nothing has changed since the answer with this `ETag`.',
  400: 'Something in the request cannot be used; `details` names it.',
  401: 'A session or an API token is needed.',
  403: 'The role is too low, the CSRF token is missing, or another site asks.',
  404: 'There is no such thing.',
  408: 'The request took too long to arrive.',
  409: 'It does not go with what is there.',
  413: 'The body is too large.',
  415: 'The body is not `application/json`.',
  421: 'This service does not answer for that host.',
  429: 'Too many requests; `Retry-After` says when to ask again.',
  500: 'Internal server error.',
  503: 'The service, its database or its upstreams cannot be reached; `Retry-After` says when to ask again.',
}

const Failure = schemaOf<ErrorBody>()(
  named('Error', 'Why a request was refused.', {
    error: text('A sentence for people.'),
    status: whole('The same as the HTTP status.'),
    details: Type.Optional(text('Which field or parameter, and what was expected there.')),
    failed: Type.Optional(
      listOf(
        Type.Object({ id: whole('Id of the record.'), error: text('Why it could not be changed.') }),
        'Of a request about several records, none of which could be changed.',
      ),
    ),
  }),
)

/** Puts the answers in, and names what has a name. */
function finish(made: OpenApi): OpenApi {
  const schemas: Record<string, Schema> = {}
  const failure = { 'application/json': { schema: hoist(Failure, schemas) } }
  const paths: Record<string, Record<string, Documented>> = {}
  for (const [path, methods] of Object.entries(made.paths)) {
    paths[path] = {}
    for (const [method, one] of Object.entries(methods)) {
      const operation = operations[`${method.toUpperCase()} ${path}`]
      const responses: Record<string, Answer> = {}
      for (const status of refusalsOf(one, operation)) {
        responses[status] = { description: meanings[status] ?? '', content: failure }
      }
      for (const [status, answer] of Object.entries(operation?.answers ?? {})) {
        const description = meanings[status] ?? ''
        const schema = answer === null ? null : hoist(answer, schemas)
        responses[status] = schema === null ? { description } : { description, content: jsonOf(status, schema) }
      }
      paths[path][method] = { ...one, ...bodyOf(one), responses }
    }
  }
  const sorted = Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)))
  return { ...made, paths, components: { ...made.components, schemas: sorted } }
}

/** A status of refusals that has a body of its own may still be a plain refusal. */
function jsonOf(status: string, schema: Schema) {
  const isRefusal = Number(status) >= 400
  return {
    'application/json': { schema: isRefusal ? { anyOf: [schema, { $ref: '#/components/schemas/Error' }] } : schema },
  }
}

function bodyOf({ requestBody }: Documented) {
  if (requestBody === undefined) return {}
  return { requestBody: { required: true, content: requestBody.content } }
}

/** What can be refused, by what there is to get wrong. */
function refusalsOf({ parameters = [], requestBody, security }: Documented, operation: Operation | undefined) {
  const isPaged = parameters.some(({ name }) => name === 'page')
  const hasPath = parameters.some((one) => one.in === 'path')
  return new Set([
    ...(parameters.length > 0 || requestBody !== undefined ? [400] : []),
    ...(security.length > 0 ? [401] : []),
    403,
    ...(hasPath || isPaged ? [404] : []),
    ...(requestBody !== undefined ? [408, 413, 415] : []),
    ...(operation?.refuses ?? []),
    ...[421, 429, 500, 503],
  ])
}
