/** The result of `POST /api/ingest/`. */

import Type from 'typebox'
import { type Body, listOf, named, text, whole } from '../described.ts'

export const IngestResult = named('IngestResult', 'Which receivers of the request were stored.', {
  accepted: whole('Number of receivers that were stored.'),
  rejected: listOf(
    Type.Object({ index: whole('Position in `receivers`, from 0.'), error: text('Why it was not stored.') }),
    'The other receivers.',
  ),
})
export type IngestResult = Body<typeof IngestResult>
