/** Routes for imports and undo. */

import { type ImportCastDeps, importCast } from '../../actions/import-cast.ts'
import { type UndoDeps, undo } from '../../actions/undo.ts'
import * as operations from '../../contract/operations/imports.ts'
import type { ContractServer } from '../server/contract.ts'

export interface ImportRoutesDeps {
  readonly importDeps: ImportCastDeps & UndoDeps
}

export function importRoutes(app: ContractServer, { importDeps }: ImportRoutesDeps): void {
  app.route({
    ...operations.importCast,
    handler: ({ actor, body }) => importCast(importDeps, actor, body),
  })

  app.route({
    ...operations.undo,
    handler: ({ actor, params }) => undo(importDeps, actor, params.undo_id),
  })
}
