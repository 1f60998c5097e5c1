/** Routes for backups. */

import { listBackups, startBackup } from '../../actions/backups.ts'
import { backupOperations } from '../../contract/backups.ts'
import type { Service } from '../../service.ts'
import type { ContractServer } from '../server/contract.ts'

export function backupRoutes(app: ContractServer, service: Service): void {
  app.route({
    ...backupOperations.listBackups,
    config: { needs: 'administer' },
    handler: () => listBackups(service),
  })

  app.route({
    ...backupOperations.createBackup,
    config: { needs: 'administer' },
    handler: ({ actor }, reply) => {
      reply.code(202)
      return startBackup(service, actor)
    },
  })
}
