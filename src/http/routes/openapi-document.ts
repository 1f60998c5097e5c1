/** Builds the OpenAPI document from the schemas of the routes. */

import fastifySwagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { commonErrorsOf, type Method, type OperationSchema, tags } from '../../contract/endpoint.ts'
import { ErrorResponse } from '../../contract/errors.ts'
import type { RolePermission } from '../../contract/values.ts'
import { localPermissions, permissions } from '../../domain/access/access.ts'
import { hoist, nameOf, type Schema } from './json-schema.ts'

interface ResponseObject {
  readonly description: string
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>
}

export interface Documented {
  readonly operationId: string
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
  readonly requestBody?: {
    readonly required?: boolean
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>
  }
  readonly responses: Readonly<Record<string, ResponseObject>>
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

/** Collects the routes for the document. */
export interface RouteCollector {
  /** Creates the document. Must be called after the service is ready. */
  createDocument(): OpenApi
}

/**
 * Registers the collector. Must be called before any route is added. The document contains the routes that have an
 * `operationId`.
 */
export async function collectRoutes(
  app: FastifyInstance,
  { mount, version }: DocumentOptions,
): Promise<RouteCollector> {
  const operations = new Map<string, OperationSchema>()
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Micwatch',
        version,
        description: introduction,
        contact: { name: 'Micwatch' },
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: mount === '' ? '/' : mount }],
      tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
      components: { securitySchemes },
    },
    transform({ schema, url, route }) {
      const { operationId, response: _, ...documented } = schema ?? {}
      if (operationId === undefined || !url.startsWith(`${mount}/`)) return { url, schema: { hide: true } }
      operations.set(operationId, schema as OperationSchema)
      const isReading = route.method === 'GET'
      const needs = route.config?.needs ?? (isReading ? 'read' : 'operate')
      const security = securityOf(needs, isReading)
      return { url, schema: { ...documented, operationId, description: describeNeeds(needs), security } }
    },
  })
  return { createDocument: () => finish(app.swagger() as unknown as OpenApi, operations) }
}

const introduction = [
  'A live monitor for wireless microphones.',
  'A trailing slash is optional, and bodies are `application/json`.',
  'Lists are bare arrays; with `page` or `page_size`, the response is an object with one page.',
  'Records that people edit have a `version`, which is their `ETag`. With `If-Match`, an edit of another version is refused with 412 and the present record in `current`.',
  'Error responses have the body `Error`; every 429 and 503 has `Retry-After`.',
  'Real-time updates are sent over the WebSocket at `/ws`, which docs/websocket.md describes.',
].join(' ')

const securitySchemes = {
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-micwatch_sid',
    description:
      'The session cookie. Without TLS its name is `micwatch_sid_<port>`. If `server.public_url` is set, the name ends ' +
      'with the host, port and path of that URL instead, with `_` for characters other than letters, digits, `_`, `.` ' +
      'and `-`: `__Host-micwatch_sid_mics.example` (without the prefix `__Host-` if there is no TLS).',
  },
  csrf: {
    type: 'apiKey',
    in: 'header',
    name: 'X-CSRF-Token',
    description: 'The `csrf_token` from the sign-in response. Every write needs it in addition to the cookie.',
  },
  token: { type: 'http', scheme: 'bearer', description: 'An API token.' },
} as const

function securityOf(needs: RolePermission | 'nothing', isReading: boolean): Record<string, string[]>[] {
  if (needs === 'nothing') return []
  const session: Record<string, string[]> = isReading ? { session: [] } : { session: [], csrf: [] }
  return [...(localPermissions.includes(needs) ? [{}] : []), session, { token: [] }]
}

function describeNeeds(needs: RolePermission | 'nothing'): string {
  if (needs === 'nothing') return 'Requires no credentials.'
  const local = localPermissions.includes(needs)
    ? ' Not required if the service only listens on the loopback interface.'
    : ''
  return `Requires the permission \`${needs}\`: role ${permissions[needs]} or above.${local}`
}

// --- Responses --------------------------------------------------------------------------------------------------------

const statusDescriptions: Readonly<Record<string, string>> = {
  200: 'Success.',
  201: 'Created.',
  202: 'Accepted; the body says what was not.',
  204: 'Success without a body.',
  206: 'The range that was requested.',
  302: 'Redirects to the page named in `Location`.',
  304: 'Not modified since the response with this `ETag`.',
  400: 'The request is invalid; `details` names the invalid part.',
  401: 'A session or an API token is required.',
  403: 'The role is insufficient, the CSRF token is missing, or the request comes from another site.',
  404: 'There is no such record or page.',
  408: 'The request took too long to arrive.',
  409: 'Conflict with the current state.',
  410: 'Expired.',
  412: 'The record has a newer version.',
  413: 'The body is too large.',
  414: 'The address is longer than 8 KiB.',
  415: 'The body is of another media type.',
  421: 'The service does not serve this host name. Browsers receive a page.',
  429: 'Too many requests; `Retry-After` says how long to wait before a retry.',
  431: 'The request headers are longer than 16 KiB.',
  500: 'Internal server error.',
  502: 'The upstream refused the request, or gave no usable response.',
  503: 'The service, its database or its upstreams are unavailable; `Retry-After` says how long to wait before a retry.',
}

/** Adds the responses to the document, and moves named schemas to its components. */
function finish(generated: OpenApi, operations: ReadonlyMap<string, OperationSchema>): OpenApi {
  const schemas: Record<string, Schema> = {}
  const errorSchema = hoist(ErrorResponse, schemas)
  const paths: Record<string, Record<string, Documented>> = {}
  for (const [path, methods] of Object.entries(generated.paths)) {
    paths[path] = {}
    for (const [method, documented] of Object.entries(methods)) {
      const operation = operations.get(documented.operationId) as OperationSchema
      const responses: Record<string, ResponseObject> = {}
      if (documented.security.length > 0) responses[401] = describeResponse(401, errorSchema)
      for (const status of commonErrorsOf(method.toUpperCase() as Method, operation)) {
        responses[status] = describeResponse(status, errorSchema)
      }
      for (const [status, response] of Object.entries(operation.response)) {
        responses[status] = describeResponse(status, hoist(response, schemas))
      }
      paths[path][method] = {
        ...documented,
        ...parametersOf(documented, operation),
        ...bodyOf(documented, operation),
        responses,
      }
    }
  }
  const sorted = Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)))
  return { ...generated, paths, components: { ...generated.components, schemas: sorted } }
}

/** Describes a response. An error status with a body of its own may also return the standard error body. */
function describeResponse(status: number | string, schema: Schema): ResponseObject {
  const description = statusDescriptions[status] ?? ''
  if (schema.type === 'null') return { description }
  if (schema.contentMediaType !== undefined) return { description, content: { [schema.contentMediaType]: { schema } } }
  const hasOwnBody = Number(status) >= 400 && nameOf(schema) !== 'Error'
  const body = hasOwnBody ? { anyOf: [schema, { $ref: '#/components/schemas/Error' }] } : schema
  const page = Number(status) === 421 && { 'text/html': { schema: { type: 'string' } } }
  return { description, content: { 'application/json': { schema: body }, ...page } }
}

/** Operations that can fail with 412 accept `If-Match`. */
function parametersOf({ parameters = [] }: Documented, { response }: OperationSchema) {
  if (response[412] === undefined) return {}
  const description = 'The version of the record that the edit expects, such as `"12"`; a list of versions, or `*`.'
  return { parameters: [...parameters, { name: 'If-Match', in: 'header', description, schema: { type: 'string' } }] }
}

function bodyOf({ requestBody }: Documented, { body }: OperationSchema) {
  if (requestBody === undefined) return {}
  return { requestBody: { required: !Type.IsOptional(body), content: requestBody.content } }
}
