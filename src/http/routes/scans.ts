/** Routes for spectrum scans. */

import type { FastifyPluginCallback } from 'fastify'
import { removeScan, uploadScan } from '../../actions/frequencies/edit-scans.ts'
import { scanOperations } from '../../contract/scans.ts'
import { RequestError } from '../../domain/errors.ts'
import { maxScanFileBytes, maxScanFiles } from '../../domain/frequencies/scans/scan.ts'
import { toScanBody, toScanLevelsBody, toUploadedScanBody } from '../../domain/frequencies/scans/stored-scan.ts'
import type { Service } from '../../service.ts'
import { findScanLevels } from '../../storage/frequencies.ts'
import { clientKeyOf } from '../server/client-key.ts'
import type { ContractServer } from '../server/contract.ts'
import { acceptForms, type FormFields, formLimit } from '../server/form-bodies.ts'
import { ifMatch } from '../server/if-match.ts'
import { paginateLocal } from '../server/response.ts'

export function scanRoutes(app: ContractServer, service: Service): void {
  const scans = () => service.lists.current.scans

  app.route({
    ...scanOperations.listScans,
    handler: (request) => paginateLocal(request, scans().map(toScanBody)),
  })

  app.route({
    ...scanOperations.getScan,
    handler: async ({ params: { id } }) => {
      const scan = scans().find((candidate) => candidate.id === id)
      const levels = await findScanLevels(service.db.read, id)
      if (scan === undefined || levels === undefined) throw new RequestError('not_found', { subject: `scan ${id}` })
      return toScanLevelsBody(scan, levels)
    },
  })

  app.route({
    ...scanOperations.removeScan,
    handler: async (request, reply) => {
      await removeScan(service, request.actor, request.params.id, ifMatch(request, toScanBody))
      return reply.code(204).send(null)
    },
  })

  const uploads: FastifyPluginCallback = (instance, _options, done) => {
    const scope: ContractServer = instance.withTypeProvider()
    const limits = { files: maxScanFiles, fileBytes: maxScanFileBytes, totalBytes: maxScanFileBytes }
    acceptForms(instance, limits, ({ offset_db, file, ...fields }) => {
      return { ...fields, ...readFile(file), ...readOffset(offset_db) }
    })
    scope.route({
      ...scanOperations.uploadScan,
      bodyLimit: formLimit(maxScanFileBytes),
      handler: async (request, reply) => {
        const { file: files, offset_db = 0 } = request.body
        reply.code(201)
        const { scan, read } = await uploadScan(
          service,
          { actor: request.actor, client: clientKeyOf(request) },
          files,
          offset_db,
        )
        return toUploadedScanBody(scan, read)
      },
    })
    done()
  }
  void app.register(uploads)
}

function readFile(field: FormFields[string] | undefined): { readonly file?: unknown } {
  if (field === undefined) return {}
  if (typeof field === 'string') throw new RequestError('bad_request', { details: 'file: expected a file, not text' })
  if (field.some(({ isTooLarge }) => isTooLarge)) {
    throw new RequestError('too_large', { details: 'file: the file is too large' })
  }
  return { file: field }
}

/** Converts a field of a form to a number. An empty field is treated as none; other text fails the validation. */
function readOffset(text: unknown): { readonly offset_db?: unknown } {
  if (text === undefined || text === '') return {}
  return { offset_db: typeof text === 'string' && /^[+-]?\d+(\.\d+)?$/.test(text) ? Number(text) : text }
}
