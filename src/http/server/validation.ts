/** Validates the parts of a request against the schemas of its route, and reports the first invalid field. */

import { Ajv, type ValidateFunction } from 'ajv'
import type { FastifySchemaCompiler, FastifySchemaValidationError } from 'fastify'
import Type, { type TObject, type TSchema } from 'typebox'
import { type Body, paging } from '../../contract/schema.ts'
import { RequestError } from '../../domain/errors.ts'
import { isDay, parseTimestamp } from '../../domain/timestamp.ts'

/** A validation error from Ajv. */
interface ValidationError {
  readonly instancePath: string
  readonly keyword: string
  readonly message?: string
  readonly params: Readonly<Record<string, unknown>>
  readonly parentSchema?: ParameterSchema
}

/** The parts of a schema from which the error message is made. */
interface ParameterSchema {
  readonly description?: string
  readonly type?: string
  readonly format?: string
  readonly pattern?: string
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly anyOf?: readonly { readonly type?: string }[]
}

// Schemas themselves are not validated, because compiling the meta-schema takes 40 ms.
const ajv = new Ajv({
  strict: false,
  verbose: true,
  validateSchema: false,
  formats: { date: isDay, 'date-time': (text: string) => parseTimestamp(text) !== null },
})

/** Creates the validators. Bodies are not converted; the parameters of paths and queries are converted from text. */
export function createValidatorCompiler(): FastifySchemaCompiler<TSchema> {
  return ({ schema, httpPart }) => {
    const check = createCheck(schema)
    if (httpPart === 'body') {
      const mayBeAbsent = Type.IsOptional(schema)
      return (body: unknown) => {
        if (mayBeAbsent && (body === undefined || body === null)) return { value: body }
        const errors = check(body)
        return errors.length === 0 ? { value: body } : { error: errors as FastifySchemaValidationError[] }
      }
    }
    return (values: Values) => {
      try {
        const value = convert((schema as TObject).properties, values)
        const error = check(value).at(-1)
        return error === undefined ? { value } : { error: invalidParameter(error) }
      } catch (error) {
        return { error: error as Error }
      }
    }
  }
}

type Values = Readonly<Record<string, string | string[]>>

/** Creates a function that reads the query of a route without a schema. It throws for an invalid parameter. */
export function createQueryReader<Schema extends TObject>(schema: Schema): (query: unknown) => Body<Schema> {
  const check = createCheck(schema)
  return (query) => {
    const value = convert(schema.properties, query as Values)
    const error = check(value).at(-1)
    if (error !== undefined) throw invalidParameter(error)
    return value as Body<Schema>
  }
}

/**
 * Creates a function that returns the errors of a value: those inside a union before that of the union itself. The schema is compiled when it is first used, because
 * compiling all schemas would take most of the time that the service needs to start.
 */
function createCheck(schema: TSchema): (value: unknown) => readonly ValidationError[] {
  let validate: ValidateFunction | undefined
  return (value) => {
    validate ??= ajv.compile(schema)
    return validate(value) ? [] : (validate.errors as ValidationError[])
  }
}

/**
 * Converts the declared parameters; others are ignored. An empty filter selects everything, so it is removed; an empty
 * page number is an error.
 */
function convert(schemas: Readonly<Record<string, ParameterSchema>>, values: Values): Record<string, unknown> {
  const converted: Record<string, unknown> = {}
  for (const name in schemas) {
    const value = values[name]
    if (Array.isArray(value)) throw badRequest([name], 'expected only one value')
    if (value === undefined || (value === '' && !(name in paging))) continue
    converted[name] = fromText(value, schemas[name]?.type)
  }
  return converted
}

/** Converts text to the type of the parameter. Other text is returned unchanged, and fails the validation. */
function fromText(text: string, type: string | undefined): unknown {
  // Leading zeros are not allowed, so that every record has only one URL.
  if (type === 'integer' && /^(0|-?[1-9]\d*)$/.test(text)) return Number(text)
  if (type === 'number' && /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text)) return Number(text)
  if (type === 'boolean' && ['true', 'false', '1', '0'].includes(text)) return text === 'true' || text === '1'
  return text
}

function invalidParameter({ instancePath, params, parentSchema = {} }: ValidationError): RequestError {
  if (typeof params.missingProperty === 'string') return badRequest([params.missingProperty], 'missing')
  return badRequest(instancePath.split('/').slice(1), `expected ${describeValues(parentSchema)}`)
}

function describeValues(schema: ParameterSchema): string {
  const { type, format, pattern, description, enum: values, anyOf, minimum, maximum } = schema
  if (values !== undefined) return `one of ${values.join(', ')}`
  if (pattern !== undefined && description !== undefined) return description
  if (type === 'number') return `a number from ${minimum} to ${maximum}`
  if (type === 'boolean') return 'one of true, false, 1, 0'
  if (anyOf !== undefined) return 'a day or a time such as 2026-05-01T18:00:00Z'
  if (format === 'date-time') return 'a time such as 2026-05-01T18:00:00Z'
  if (maximum === undefined || maximum === Number.MAX_SAFE_INTEGER) {
    // Negative ids are those of the service's own records.
    return minimum !== undefined && minimum < 0 ? 'a whole number' : `a whole number of ${minimum} or more`
  }
  return `a whole number from ${minimum} to ${maximum}`
}

/** Returns an error that names the invalid field of a body and the expected value. */
export function invalidBody(errors: readonly ValidationError[]): RequestError {
  const error = findCause(errors)
  if (error === undefined) return new RequestError('bad_request')
  const path = error.instancePath.split('/').slice(1)
  const { missingProperty, additionalProperty } = error.params
  if (typeof missingProperty === 'string') return badRequest([...path, missingProperty], 'missing')
  if (typeof additionalProperty === 'string') return badRequest([...path, additionalProperty], 'unknown field')
  const expected = error.parentSchema?.description
  return badRequest(path, expected === undefined ? (error.message ?? 'not valid') : `expected ${expected}`)
}

/**
 * Returns the error to report. The `anyOf` error of a union describes the whole union. An object that may also be null
 * is not such a union: the error inside it is reported.
 */
function findCause(errors: readonly ValidationError[]): ValidationError | undefined {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf')
  const union = unions.find(({ parentSchema }) => !parentSchema?.anyOf?.some(({ type }) => type === 'null'))
  if (union !== undefined || unions.length === 0) return union ?? errors[0]
  const depthOf = ({ instancePath }: ValidationError) => instancePath.split('/').length
  const deepest = Math.max(...errors.map(depthOf))
  const innermost = errors.filter((error) => depthOf(error) === deepest)
  const ofObject = innermost.find(({ keyword }) => ['additionalProperties', 'required'].includes(keyword))
  return ofObject ?? innermost.find(({ keyword }) => keyword === 'anyOf') ?? innermost[0]
}

function badRequest(path: readonly string[], what: string): RequestError {
  const field = path.length === 0 ? 'body' : path.join('.')
  return new RequestError('bad_request', { details: `${field}: ${what}` })
}
