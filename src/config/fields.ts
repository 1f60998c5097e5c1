/** Building blocks of the schema of the configuration file. The descriptions state the expected values. */

import Type from 'typebox'
import { parseNetwork } from '../domain/identity/address.ts'
import { isFreeHeaderName, isHeaderValue } from '../domain/text.ts'

export const text = (expected: string) => Type.String({ description: expected })
/** An empty path would be the working directory. */
export const path = (expected: string) => Type.String({ minLength: 1, description: expected })
export const flag = Type.Boolean({ description: 'true or false' })
export const textList = (expected: string) => Type.Array(Type.String(), { description: `a list of ${expected}` })
export const integer = (minimum: number, maximum: number) =>
  Type.Integer({ minimum, maximum, description: `a whole number from ${minimum} to ${maximum}` })
export const networks = (pattern = '') => {
  const network = Type.String({ pattern, description: 'a network in CIDR form, such as 10.0.0.0/8' })
  return Type.Array(
    Type.Refine(network, (value) => parseNetwork(value) !== null),
    { description: 'a list of networks in CIDR form' },
  )
}

/** All keys of a section are optional. Unknown keys are errors. */
export const section = <T extends Type.TProperties>(properties: T) =>
  Type.Partial(Type.Object(properties, { additionalProperties: false, description: 'a section of keys' }), {
    additionalProperties: false,
  })

export const headers = Type.Refine(
  Type.Record(Type.String(), Type.String(), { description: 'a section of header names and values' }),
  (values) => Object.entries(values).every(([name, value]) => isFreeHeaderName(name) && isHeaderValue(value)),
)
/** A complete address, with a query if it needs one. */
export const fullAddress = (example: string) => Type.Refine(text(`an address such as ${example}`), isFullAddress)
export const webAddress = Type.Refine(text('an address such as https://mics.example'), isWebAddress)
/** True for an http or https URL without credentials, which belong in a header. */
function isFullAddress(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, hash } = new URL(text)
  return /^https?:$/.test(protocol) && [username, password, hash].every((part) => part === '')
}

/** True for an http or https URL with only a host, a port and a path. */
function isWebAddress(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  return /^https?:$/.test(protocol) && [username, password, search, hash].every((part) => part === '')
}
