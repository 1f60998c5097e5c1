/** Building blocks for body schemas, and the error response for invalid bodies. */

import Type, { type TProperties } from 'typebox'
import { RequestError } from '../../domain/errors.ts'

export { flag, nullable, text } from '../../actions/fields.ts'

export const id = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'a whole number of 1 or more',
})
/** Rejects unknown keys, so that a misspelled key is not mistaken for a missing one. */
export const body = <T extends TProperties>(properties: T) =>
  Type.Object(properties, { additionalProperties: false, description: 'an object' })

/** The ids of several records for one action. */
export const idsBody = body({
  ids: Type.Array(id, { minItems: 1, maxItems: 1000, description: 'a list of 1 to 1000 ids' }),
})

/** Ajv options: values are not converted, and unknown keys are not removed. */
export const validation = {
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: false,
  allErrors: false,
  strict: false,
  verbose: true,
} as const

/** A validation error from Ajv. */
interface ValidationError {
  readonly instancePath: string
  readonly keyword: string
  readonly message?: string
  readonly params: Readonly<Record<string, unknown>>
  readonly parentSchema?: { readonly description?: string }
}

/** Returns an error that names the invalid field and the expected value. */
export function rejectInvalid(errors: readonly ValidationError[]): RequestError {
  // The `anyOf` error of a union describes the whole union.
  const error = errors.find(({ keyword }) => keyword === 'anyOf') ?? errors[0]
  if (error === undefined) return new RequestError('bad_request')
  const path = error.instancePath.split('/').slice(1)
  const { missingProperty, additionalProperty } = error.params
  if (typeof missingProperty === 'string') return badRequest([...path, missingProperty], 'missing')
  if (typeof additionalProperty === 'string') return badRequest([...path, additionalProperty], 'unknown field')
  const expected = error.parentSchema?.description
  return badRequest(path, expected === undefined ? (error.message ?? 'not valid') : `expected ${expected}`)
}

function badRequest(path: readonly string[], what: string): RequestError {
  const field = path.length === 0 ? 'body' : path.join('.')
  return new RequestError('bad_request', { details: `${field}: ${what}` })
}
