/** Routes for the sweeps that analysers push. */

import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { FastifyPluginCallback, FastifyRequest } from 'fastify'
import { keepSweeps } from '../../actions/frequencies/keep-sweeps.ts'
import { pushSweep, SweepStreams } from '../../actions/frequencies/push-sweeps.ts'
import { isSourceName, type ReceivedSweepsBody, sourceNames, sweepOperations } from '../../contract/sweeps.ts'
import { RequestError } from '../../domain/errors.ts'
import { toScanBody } from '../../domain/frequencies/scans/stored-scan.ts'
import type { Service } from '../../service.ts'
import { acceptJson } from '../server/bodies.ts'
import type { ContractServer } from '../server/contract.ts'
import type { Incoming } from '../server/incoming.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** A body of rows, which is read as it comes. */
    rows: Readable | null
  }
}

const noLevels = { last: [], max: [], waterfall: [] }
/** The rest of a refused body is discarded for this time, so that the client reads the response. */
const discardMs = 5000
/** Finds clients that have vanished without closing the connection. */
const keepAliveMs = 60_000

export function sweepRoutes(app: ContractServer, service: Service): void {
  const { sweeps } = service

  app.route({
    ...sweepOperations.listSweeps,
    handler: ({ query: { levels = true } }) =>
      Promise.resolve(
        sweeps.list().map((spectrum) => (levels ? spectrum.toBody() : { ...spectrum.toBody(), ...noLevels })),
      ),
  })

  app.route({
    ...sweepOperations.getSweeps,
    handler: async ({ params: { source } }) => sweeps.get(source).toBody(),
  })

  app.route({
    ...sweepOperations.keepSweeps,
    handler: async ({ params: { source }, body, actor }, reply) => {
      const scan = await keepSweeps(service, actor, sweeps.get(source), body.name)
      reply.code(201)
      return toScanBody(scan)
    },
  })

  app.route({
    ...sweepOperations.resetSweeps,
    handler: async ({ params: { source }, body }) => {
      const spectrum = sweeps.get(source)
      spectrum.reset(body?.after_minutes ?? null)
      return spectrum.toBody()
    },
  })

  app.route({
    ...sweepOperations.removeSweeps,
    handler: async ({ params: { source } }, reply) => {
      sweeps.remove(source)
      return reply.code(204).send(null)
    },
  })

  const pushes: FastifyPluginCallback = (instance, _options, done) => {
    const scope: ContractServer = instance.withTypeProvider()
    const streams = new SweepStreams(sweeps)
    const config = { readsStreams: true } as const
    acceptRows(instance)
    const readRows = async (request: FastifyRequest, rows: Readable): Promise<ReceivedSweepsBody> => {
      const { source } = request.query as { readonly source?: string }
      try {
        requireName(source)
        ;(request.raw as Incoming).isStream = true
        request.raw.socket.setKeepAlive(true, keepAliveMs)
        return await streams.read(source, rows, service.signal)
      } catch (error) {
        discard(rows)
        throw error
      }
    }

    scope.route({
      ...sweepOperations.pushSweep,
      config,
      handler: async (request, reply) => {
        reply.code(201)
        if (request.rows !== null) return readRows(request, request.rows)
        // A body of null is not validated.
        const sweep = request.body ?? null
        if (sweep === null) throw new RequestError('bad_request', { details: 'body: expected an object' })
        return pushSweep(sweeps, sweep)
      },
    })

    scope.route({
      ...sweepOperations.streamSweeps,
      config,
      handler: (request) => readRows(request, request.rows ?? Readable.from([])),
    })
    done()
  }
  void app.register(pushes)
}

function requireName(source: string | undefined): asserts source is string {
  if (source === undefined) throw new RequestError('bad_request', { details: 'source: missing' })
  if (isSourceName(source)) return
  throw new RequestError('bad_request', { details: `source: expected ${sourceNames.description}` })
}

/** Accepts JSON, and rows as `text/csv`. A body without a type is one of rows if the query names a source. */
function acceptRows(app: Parameters<FastifyPluginCallback>[0]): void {
  acceptJson(app)
  app.decorateRequest('rows', null)
  app.addContentTypeParser('*', (request, payload, done) => {
    const type = request.headers['content-type']
    const isRows = type === undefined ? (request.query as { source?: string }).source !== undefined : isCsv(type)
    if (!isRows) {
      discard(payload)
      return done(new RequestError('not_rows'))
    }
    request.rows = payload
    done(null, undefined)
  })
}

const isCsv = (type: string) => /^text\/csv\s*(;|$)/i.test(type)

function discard(body: Readable): void {
  body.resume()
  const timer = setTimeout(() => body.destroy(), discardMs)
  void finished(body).then(
    () => clearTimeout(timer),
    () => clearTimeout(timer),
  )
}
