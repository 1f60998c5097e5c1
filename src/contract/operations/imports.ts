/** Imports, and the undo of actions on several records. */

import { endpoint, operation } from '../endpoint.ts'
import { ErrorResponse } from '../errors.ts'
import { ByUndo } from '../queries.ts'
import { CastText } from '../requests.ts'
import { CastImport, Undone } from '../resources/imports.ts'

export const importCast = endpoint('POST', '/api/import/cast/', {
  ...operation(
    'Hardware',
    'importCast',
    'Imports a cast list: performers, their roles and packs, and the names of placeholders.',
  ),
  body: CastText,
  response: { 200: CastImport },
})

export const undo = endpoint('POST', '/api/undo/:undo_id', {
  ...operation('Hardware', 'undo', 'Undoes an action within 24 hours, unless its records have been changed since.'),
  params: ByUndo,
  response: { 200: Undone, 409: ErrorResponse },
})
