/** Routes for reports of shows, and for the crew sheet. */

import type { FastifyRequest } from 'fastify'
import { getShow } from '../../actions/shows/edit-shows.ts'
import { listBatteries } from '../../actions/shows/list-batteries.ts'
import { reportChecks, reportShow } from '../../actions/shows/report-show.ts'
import { type CrewSheet, reportOperations, type ShowReport } from '../../contract/reports.ts'
import { toBatteryListCsv } from '../../domain/reports/battery-list.ts'
import { toCheckReportCsv } from '../../domain/reports/check-report.ts'
import { toCrewSheet, toCrewSheetCsv } from '../../domain/reports/crew-sheet.ts'
import { toReportCsv } from '../../domain/reports/show-report.ts'
import type { Service } from '../../service.ts'
import { clientKeyOf } from '../server/client-key.ts'
import type { ContractServer } from '../server/contract.ts'
import { sendCsv, toTime } from '../server/response.ts'

export function reportRoutes(app: ContractServer, service: Service): void {
  /** Reports in progress, by show. Concurrent requests share one. */
  const pending = new Map<number, Promise<ShowReport>>()

  function report(id: number, request: FastifyRequest): Promise<ShowReport> {
    const known = pending.get(id)
    if (known !== undefined) return known
    const made = reportShow(service, getShow(service, id), clientKeyOf(request)).finally(() => pending.delete(id))
    pending.set(id, made)
    return made
  }

  app.route({
    ...reportOperations.getShowReport,
    handler: (request) => report(request.params.id, request),
  })

  app.route({
    ...reportOperations.getShowReportCsv,
    handler: (request, reply) =>
      sendCsv(
        request,
        reply,
        `report-${request.params.id}.csv`,
        toCsv(report(request.params.id, request), toReportCsv),
      ),
  })

  const checkReport = (id: number, request: FastifyRequest) =>
    reportChecks(service, getShow(service, id), clientKeyOf(request))

  app.route({
    ...reportOperations.getCheckReport,
    handler: (request) => checkReport(request.params.id, request),
  })

  app.route({
    ...reportOperations.getCheckReportCsv,
    handler: (request, reply) => {
      const { id } = request.params
      return sendCsv(request, reply, `check-report-${id}.csv`, toCsv(checkReport(id, request), toCheckReportCsv))
    },
  })

  function crewSheet(showId: number | undefined): CrewSheet {
    return toCrewSheet(showId === undefined ? null : getShow(service, showId), {
      channels: service.receiverStore.listFacts().flatMap(({ channels }) => channels),
      records: service.slotRecords.list(),
      groups: service.lists.groupsOf(undefined),
      packOf: (channelId) => service.unitStore.ofChannel(channelId)?.name ?? null,
      performers: service.cast.performers(),
    })
  }

  app.route({
    ...reportOperations.getCrewSheet,
    handler: ({ query }) => crewSheet(query.show),
  })

  app.route({
    ...reportOperations.getCrewSheetCsv,
    handler: (request, reply) =>
      sendCsv(request, reply, 'crew-sheet.csv', toCsv(crewSheet(request.query.show), toCrewSheetCsv)),
  })

  app.route({
    ...reportOperations.getBatteryList,
    handler: ({ query }) => listBatteries(service, toTime(query.before)),
  })

  app.route({
    ...reportOperations.getBatteryListCsv,
    handler: (request, reply) =>
      sendCsv(
        request,
        reply,
        'changes.csv',
        toCsv(listBatteries(service, toTime(request.query.before)), toBatteryListCsv),
      ),
  })
}

async function* toCsv<Body>(body: Body | Promise<Body>, format: (body: Body) => string): AsyncIterable<string> {
  yield format(await body)
}
