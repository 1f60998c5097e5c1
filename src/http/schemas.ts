/** What bodies look like: the pieces routes put together, and how a body that does not fit is refused. */

import Type, { type TProperties } from 'typebox'
import { RequestError } from '../model/errors.ts'

export { flag, nullable, text } from '../actions/fields.ts'

export const id = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'a whole number from 1',
})
/** No other keys: one that is misspelled must not pass for one that was left out. */
export const body = <T extends TProperties>(properties: T) =>
  Type.Object(properties, { additionalProperties: false, description: 'an object' })

/** Several of the same kind, for one deed. */
export const idsBody = body({
  ids: Type.Array(id, { minItems: 1, maxItems: 1000, description: 'a list of 1 to 1000 ids' }),
})

/** For fastify: types are what they are, nothing is turned into anything else or left out silently. */
export const validation = {
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: false,
  allErrors: false,
  strict: false,
  verbose: true,
} as const

/** What Ajv says of the first thing that does not fit. */
interface Misfit {
  readonly instancePath: string
  readonly keyword: string
  readonly message?: string
  readonly params: Readonly<Record<string, unknown>>
  readonly parentSchema?: { readonly description?: string }
}

/** The refusal names the field and says what was expected there. */
export function rejectInvalid(misfits: readonly Misfit[]): RequestError {
  // Of a union the last one speaks for the whole.
  const misfit = misfits.find((one) => one.keyword === 'anyOf') ?? misfits[0]
  if (misfit === undefined) return new RequestError('bad_request')
  const path = misfit.instancePath.split('/').slice(1)
  const { missingProperty, additionalProperty } = misfit.params
  if (typeof missingProperty === 'string') return refuse([...path, missingProperty], 'missing')
  if (typeof additionalProperty === 'string') return refuse([...path, additionalProperty], 'unknown field')
  const expected = misfit.parentSchema?.description
  return refuse(path, expected === undefined ? (misfit.message ?? 'not valid') : `expected ${expected}`)
}

function refuse(path: readonly string[], what: string): RequestError {
  const field = path.length === 0 ? 'body' : path.join('.')
  return new RequestError('bad_request', { details: `${field}: ${what}` })
}
