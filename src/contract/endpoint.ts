/** Describes the operations of the REST interface: for the server, its OpenAPI document and its clients. */

import type { TObject, TSchema } from 'typebox'

/** The groups of operations in the OpenAPI document. */
export const tags = {
  Monitoring: 'Receivers, their channels and the health of the service.',
  Hardware: 'Groups, placeholders, chassis, units, performers and assignments.',
  Shows: 'Shows that are planned, running or ended.',
  History: 'Recorded levels, events and markers.',
  Frequencies: 'Conflicts between carriers, suggestions, profiles of equipment, and spectrum scans.',
  Audio: 'Audio streams, listening to channels, and who listens.',
  Discovery: 'Network scans, devices that are waiting for review, and movements.',
  Account: 'Sign-in, sign-out and set-up.',
  Review: 'Review of devices, and administration of receivers and locations.',
  Notifications: 'Services to which alerts are sent, the rules that choose the alerts, and the messages sent.',
  Administration: 'Manufacturers, settings, users, tokens, the database and the audit log.',
} as const

export interface OperationSchema {
  readonly tags: string[]
  readonly summary: string
  readonly params?: TObject
  readonly querystring?: TObject
  readonly body?: TSchema
  /** The media types of a body that is not JSON. */
  readonly consumes?: string[]
  /** The bodies by status, without the errors that `commonErrorsOf` returns. */
  readonly response: Readonly<Record<number, TSchema>>
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * Defines an operation. The URL of a collection, or of one of its records, ends with a slash; that of an action or a
 * file does not.
 */
export const endpoint = <const M extends Method, const Url extends string, Schema extends OperationSchema>(
  method: M,
  url: Url,
  schema: Schema,
) => ({ method, url, schema })

/** Returns the part of a schema that only the OpenAPI document needs. The summary is one sentence. */
export const about = (tag: keyof typeof tags, summary: string) => ({ tags: [tag], summary })

/** Completes the operations of a resource: the name of each is its `operationId` in the OpenAPI document. */
export function operationsOf<Operations extends Record<string, { readonly schema: OperationSchema }>>(
  operations: Operations,
): Operations {
  const entries = Object.entries(operations).map(([operationId, operation]) => [
    operationId,
    { ...operation, schema: { ...operation.schema, operationId } },
  ])
  return Object.fromEntries(entries) as Operations
}

/**
 * The server returns these for any operation. The request is malformed, slow, too long, from another site or for another
 * host. Or the client has sent too many, or the service or its database is not available.
 */
const errorsOfServer = [400, 403, 408, 413, 414, 421, 429, 431, 500, 503]

/** Returns the error statuses that follow from the inputs of an operation. Their body is `Error`. */
export function commonErrorsOf(method: Method, { params, querystring }: OperationSchema): readonly number[] {
  const namesRecord = params !== undefined || querystring?.properties.page !== undefined
  // The body of a GET request is ignored.
  return [...errorsOfServer, ...(namesRecord ? [404] : []), ...(method === 'GET' ? [] : [415])]
}
