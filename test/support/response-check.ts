/** Checks every response and WebSocket message that a test receives against its description. */

import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/schema'
import { commonErrorsOf, type OperationSchema } from '../../src/contract/endpoint.ts'
import { ErrorResponse } from '../../src/contract/errors.ts'
import { operations } from '../../src/contract/operations.ts'
import { createAsyncApi } from '../../src/http/routes/asyncapi-document.ts'
import type { HttpResponse } from './http-client.ts'

interface DeclaredOperation {
  readonly method: string
  readonly pattern: RegExp
  readonly responses: Readonly<Record<number, TSchema | undefined>>
}

const declared = Object.values(operations).map(({ method, url, schema }): DeclaredOperation => {
  const path = url.replace(/\/$/, '').replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')
  // Which operations require credentials is a property of the routes.
  const errors = [401, ...commonErrorsOf(method, schema as OperationSchema)]
  const responses = { ...Object.fromEntries(errors.map((status) => [status, ErrorResponse])), ...schema.response }
  return { method, pattern: new RegExp(`^${path}/?$`), responses }
})
// Patterns with a parameter are last, because they also match paths such as `/api/admin/manufacturers/test`.
declared.sort((a, b) => Number(a.pattern.source.includes('[^')) - Number(b.pattern.source.includes('[^')))

/** Throws if the status, the media type or the body of a response differs from its description. */
export function checkResponse(method: string, target: string, response: HttpResponse): void {
  const { status, json } = response
  const [path = ''] = target.split('?')
  const operation = declared.find((candidate) => candidate.method === method && candidate.pattern.test(path))
  const name = `${method} ${path} ${status}`
  // A service with a mount prefix has no operations outside of it.
  const isUnknown = status === 404 && String(json?.error).startsWith('There is no such address')
  if (operation === undefined || isUnknown) {
    if (json !== undefined && status >= 400 && !validatorOf(ErrorResponse).Check(json))
      throw new Error(`${name} is not the standard error: ${excerpt(json)}`)
    return
  }
  const schema = operation.responses[status]
  if (schema === undefined) throw new Error(`${name} is not described: ${excerpt(json)}`)
  if (!hasMediaType(schema, response)) throw new Error(`${name} has the media type ${response.headers['content-type']}`)
  const isStandardError = status >= 400 && validatorOf(ErrorResponse).Check(json)
  if (json === undefined || isStandardError) return
  const validator = validatorOf(schema)
  if (validator.Check(json)) return
  const [, errors] = validator.Errors(json)
  throw new Error(`${name} differs from the contract: ${excerpt(errors)} ${excerpt(json)}`)
}

const excerpt = (json: unknown) => JSON.stringify(json)?.slice(0, 1000)

/** Compares the media type with that of the schema. A response without a body has none. */
function hasMediaType(schema: TSchema, { status, headers, bytes }: HttpResponse): boolean {
  const type = headers['content-type'] ?? ''
  const { type: kind, contentMediaType = 'application/json' } = schema as { type?: string; contentMediaType?: string }
  if (kind === 'null') return bytes.length === 0
  if (status === 421 && type.startsWith('text/html')) return true
  return type.startsWith(contentMediaType.replace('*', ''))
}

// --- WebSocket messages -----------------------------------------------------------------------------------------------

const asyncApi = createAsyncApi({ mount: '', version: '' })
const messageValidators = new Map<string, Validator>()

/** Throws if a message from the service differs from its description in the AsyncAPI document. */
export function checkMessage(version: 'v1' | 'v2', message: Readonly<Record<string, unknown>>): void {
  const name = `${version}_${message.type}`
  const validator = messageValidators.get(name) ?? compileMessage(name)
  messageValidators.set(name, validator)
  if (validator.Check(message)) return
  const [, errors] = validator.Errors(message)
  throw new Error(`the message ${name} differs from the contract: ${excerpt(errors)} ${excerpt(message)}`)
}

function compileMessage(name: string): Validator {
  const { messages, schemas } = asyncApi.components
  const described = messages[name]
  if (described === undefined) throw new Error(`the message ${name} is not described`)
  const strict = { ...(strictSchema(described.payload) as object), components: { schemas: strictSchema(schemas) } }
  return Compile(strict as TSchema)
}

// --- Schemas ----------------------------------------------------------------------------------------------------------

const validators = new Map<TSchema, Validator>()

function validatorOf(schema: TSchema): Validator {
  const validator = validators.get(schema) ?? Compile(strictSchema(schema) as TSchema)
  validators.set(schema, validator)
  return validator
}

/** Returns the schema with `additionalProperties: false` in each object, so that undocumented fields are errors. */
export function strictSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strictSchema)
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, strictSchema(value)]))
  const isObject = 'properties' in schema && schema.properties !== null && 'type' in schema && schema.type === 'object'
  return isObject ? { ...inner, additionalProperties: false } : inner
}
