/** The body of every error response. */

import Type from 'typebox'
import { type Body, listOf, named, text, whole } from './schema.ts'

export const ErrorResponse = named('Error', 'Why a request failed.', {
  error: text('Error message for users.'),
  status: whole('The same as the HTTP status.'),
  details: Type.Optional(text('The invalid field or parameter, and the expected value.')),
  failed: Type.Optional(
    listOf(
      Type.Object({ id: whole('Id of the record.'), error: text('Why it could not be changed.') }),
      'The requested records, if several were requested and none could be changed.',
    ),
  ),
  current: Type.Optional(
    Type.Unknown({
      description:
        'With status 412: the present record; null if there is none. With 409 of a move: its channel or placeholder with the present slot.',
    }),
  ),
})
export type ErrorBody = Body<typeof ErrorResponse>

/** One record that could not be changed. */
export type Failure = NonNullable<ErrorBody['failed']>[number]
