/** Checks every JSON response that a test receives against the contract. */

import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/schema'
import { ErrorResponse } from '../src/contract/errors.ts'
import * as operations from '../src/contract/operations/index.ts'
import type { HttpResponse } from './http-client.ts'

interface DeclaredOperation {
  readonly method: string
  readonly pattern: RegExp
  readonly responses: Readonly<Record<number, TSchema | undefined>>
}

const declared = Object.values(operations).map(({ method, url, schema }): DeclaredOperation => {
  const path = url.replace(/\/$/, '').replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')
  return { method, pattern: new RegExp(`^${path}/?$`), responses: schema.response }
})
// Patterns with a parameter are last, because they also match paths such as `/api/admin/manufacturers/test`.
declared.sort((a, b) => Number(a.pattern.source.includes('[^')) - Number(b.pattern.source.includes('[^')))

/** Throws if the body of a response differs from its description. Error responses may have the standard body. */
export function checkResponse(method: string, target: string, { status, json }: HttpResponse): void {
  if (json === undefined) return
  const [path = ''] = target.split('?')
  const operation = declared.find((candidate) => candidate.method === method && candidate.pattern.test(path))
  const schema = operation?.responses[status]
  const isStandardError = status >= 400 && validatorOf(ErrorResponse).Check(json)
  if (isStandardError || (operation === undefined && status < 400)) return
  if (schema === undefined) throw new Error(`${method} ${path} has no declared body for status ${status}`)
  const validator = validatorOf(schema)
  if (validator.Check(json)) return
  const [, errors] = validator.Errors(json)
  throw new Error(
    `${method} ${path} ${status} differs from the contract: ${JSON.stringify(errors).slice(0, 1000)} ${JSON.stringify(json).slice(0, 1000)}`,
  )
}

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
