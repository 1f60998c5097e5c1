/** The support bundle. */

import { createSupportBundle } from '../../actions/support-bundle.ts'
import type { Config } from '../../config.ts'
import { healthOperations } from '../../contract/health.ts'
import type { Service } from '../../service.ts'
import type { ContractServer } from '../server/contract.ts'
import { formatMetrics } from './metrics.ts'

export function supportRoutes(app: ContractServer, service: Service, version: string, config: Config): void {
  app.route({
    ...healthOperations.getSupportBundle,
    config: { needs: 'administer' },
    handler: async ({ actor, query }, reply) => {
      const withNames = query.names === '1'
      const metrics = await formatMetrics(service, version, { withChannels: false })
      const source = { version, config: { ...config }, metrics: metrics.toString(), log: service.recentLog, withNames }
      reply.header('content-disposition', 'attachment; filename="micwatch-support.json"')
      return createSupportBundle(service, actor, source)
    },
  })
}
