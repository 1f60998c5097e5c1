import { startCapture } from '../../actions/equipment/capture-source.ts'
import { captureOperations } from '../../contract/captures.ts'
import type { Service } from '../../service.ts'
import type { ContractServer } from '../server/contract.ts'

export function captureRoutes(app: ContractServer, service: Service, version: string): void {
  const { captures } = service
  const config = { needs: 'administer' } as const

  app.route({
    ...captureOperations.startCapture,
    config,
    handler: async ({ actor, body }, reply) => {
      reply.code(201)
      return startCapture(service, actor, body, version)
    },
  })

  app.route({
    ...captureOperations.getCapture,
    config,
    handler: ({ params }) => Promise.resolve(captures.get(params.id)),
  })

  app.route({
    ...captureOperations.stopCapture,
    config,
    handler: ({ params }) => captures.stop(params.id),
  })

  app.route({
    ...captureOperations.getCaptureFile,
    config,
    handler: async ({ params: { id } }, reply) => {
      const file = await captures.file(id)
      reply
        .type('application/x-ndjson')
        .header('content-disposition', `attachment; filename="micwatch-capture-${id}.jsonl"`)
      return reply.send(Buffer.from(file))
    },
  })
}
