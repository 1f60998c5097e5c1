/** Routes for `GET /api/data.json`, `GET /data.json` in the shape of micboard, the list of receivers and one receiver. */

import type { Identifications } from '../../actions/equipment/identify-receivers.ts'
import { findModelStatusOf } from '../../actions/equipment/model-status.ts'
import { startReceiverScan, stopReceiverScan } from '../../actions/equipment/scan-spectrum.ts'
import { dataOperations } from '../../contract/data.ts'
import {
  type ModelStatusBody,
  type ReceiverWithSources,
  receiverOperations,
  type ScanRangeBody,
} from '../../contract/receivers.ts'
import { addressOf } from '../../domain/equipment/health.ts'
import type { Receiver } from '../../domain/equipment/receiver.ts'
import { toReceiverDetail, toReceiverSummary } from '../../domain/equipment/receiver-body.ts'
import { RequestError } from '../../domain/errors.ts'
import { toMicboard } from '../../domain/micboard.ts'
import type { LiveData } from '../../live/live-data.ts'
import type { ScanRange } from '../../manufacturers/plugin.ts'
import type { Service } from '../../service.ts'
import type { ContractServer } from '../server/contract.ts'
import { type ResponseCache, readPage, sendCached, toPage } from '../server/response.ts'

export interface ReceiverRoutes {
  readonly cache: ResponseCache
  readonly liveData: LiveData
  readonly identifications: Identifications
}

export function receiverRoutes(
  app: ContractServer,
  service: Service,
  { cache, liveData, identifications }: ReceiverRoutes,
): void {
  const { receiverStore, lists } = service
  const toBody = (receiver: Receiver): ReceiverWithSources => ({
    ...toReceiverDetail(receiver, service.conditions, lists.current.locations),
    sources: service.receiverSources.list(receiver.id).map((source) => addressOf(source, receiver.manufacturer)),
    can_identify: identifications.canIdentify(receiver),
    scan_range: toRangeBody(service.receiverScans.rangeOf(receiver)),
    model_status: readModelStatus(service, receiver),
  })

  for (const endpoint of [dataOperations.getData, dataOperations.getDataAlias]) {
    app.route({
      ...endpoint,
      handler: (request, reply) => {
        const { manufacturer, site, group } = request.query
        liveData.requireGroup(group)
        return sendCached(request, reply, {
          cache,
          manufacturer: manufacturer ?? null,
          key: keyOf('data', manufacturer, site, group),
          make: () => liveData.dataJson({ manufacturer, site, group }),
        })
      },
    })
  }

  app.route({
    ...dataOperations.getMicboardData,
    handler: (request, reply) =>
      sendCached(request, reply, {
        cache,
        manufacturer: null,
        key: 'micboard',
        make: () =>
          JSON.stringify(
            toMicboard(receiverStore.listAll(), {
              groups: lists.current.groups,
              titleOf: (receiver, channel) => service.slotRecords.titleOf(receiver, channel),
              url: service.publicUrl === null ? '' : new URL(service.publicUrl).href,
            }),
          ),
      }),
  })

  app.route({
    ...receiverOperations.listReceivers,
    handler: (request, reply) => {
      const { manufacturer, site } = request.query
      const page = readPage(request.query)
      return sendCached(request, reply, {
        cache,
        manufacturer: manufacturer ?? null,
        // A paged response contains links that repeat the whole query string, so every URL needs its own cache entry.
        key: page === null ? keyOf('receivers', manufacturer, site) : `page:${request.url}`,
        make: () => {
          const receivers = receiverStore.listAll({ manufacturer, site })
          if (page === null) return JSON.stringify(receivers.map(toReceiverSummary))
          const body = toPage(receivers, page, request.url)
          return JSON.stringify({ ...body, results: body.results.map(toReceiverSummary) })
        },
      })
    },
  })

  app.route({
    ...receiverOperations.getReceiver,
    handler: (request, reply) => {
      const { id } = request.params
      const { manufacturer } = request.query
      const receiver = receiverStore.get(id)
      if (receiver === undefined || (manufacturer !== undefined && receiver.manufacturer !== manufacturer)) {
        throw new RequestError('not_found', { subject: `receiver ${id}` })
      }
      return sendCached(request, reply, {
        cache,
        manufacturer: receiver.manufacturer,
        key: `receiver:${id}`,
        make: () => JSON.stringify(toBody(receiver)),
      })
    },
  })

  app.route({
    ...receiverOperations.identifyReceiver,
    handler: ({ actor, params, body }) => identifications.identify(actor, params.id, body ?? {}),
  })

  app.route({
    ...receiverOperations.startReceiverScan,
    config: { needs: 'administer' },
    handler: async ({ actor, params, body }, reply) => {
      reply.code(202)
      return { source: await startReceiverScan(service, actor, params.id, body) }
    },
  })

  app.route({
    ...receiverOperations.stopReceiverScan,
    config: { needs: 'administer' },
    handler: async ({ actor, params }, reply) => {
      await stopReceiverScan(service, actor, params.id)
      return reply.code(204).send(null)
    },
  })
}

function keyOf(response: string, ...filters: readonly (string | number | undefined)[]): string {
  return JSON.stringify([response, ...filters])
}

function readModelStatus(service: Service, receiver: Receiver): ModelStatusBody | null {
  const found = findModelStatusOf(service, receiver)
  if (found === null) return null
  const { model, firmware, status, date, source, values } = found
  return { model, firmware, status, date, source, values: [...values] }
}

function toRangeBody(range: ScanRange | null): ScanRangeBody | null {
  return range && { from_mhz: range.fromKhz / 1000, to_mhz: range.toKhz / 1000, step_khz: range.stepKhz }
}
