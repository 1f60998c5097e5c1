/** Routes for reports of shows, and for the crew sheet. */

import type { FastifyRequest } from 'fastify'
import { type ReportDeps, reportShow } from '../../actions/shows/report-show.ts'
import type { Group } from '../../contract/groups.ts'
import { type CrewSheet, reportOperations, type ShowReport } from '../../contract/reports.ts'
import { RequestError } from '../../domain/errors.ts'
import type { LevelHistory } from '../../domain/history/level-history.ts'
import { toCrewSheet, toCrewSheetCsv } from '../../domain/reports/crew-sheet.ts'
import { toReportCsv } from '../../domain/reports/report-csv.ts'
import type { Show } from '../../domain/shows.ts'
import type { PlaceholderStore } from '../../ingest/placeholder-store.ts'
import type { ReceiverStore } from '../../ingest/receiver-store.ts'
import type { UnitStore } from '../../ingest/unit-store.ts'
import { listAssignments, listPerformers } from '../../storage/hardware.ts'
import { clientKeyOf } from '../server/client-key.ts'
import type { ContractServer } from '../server/contract.ts'
import { sendCsv } from '../server/response.ts'

export interface ReportRoutesDeps {
  readonly reportDeps: ReportDeps & { readonly history: { readonly levels: Pick<LevelHistory, 'ofClient'> } }
  readonly receiverStore: ReceiverStore
  readonly placeholderStore: Pick<PlaceholderStore, 'list'>
  readonly unitStore: UnitStore
  shows(): readonly Show[]
  groups(manufacturer: string | undefined): readonly Group[]
}

export function reportRoutes(app: ContractServer, deps: ReportRoutesDeps): void {
  const { reportDeps } = deps
  const { read } = reportDeps.db
  /** The reports that are being made, by show. Requests that arrive in the meantime get the same one. */
  const pending = new Map<number, Promise<ShowReport>>()

  function report(id: number, request: FastifyRequest): Promise<ShowReport> {
    const known = pending.get(id)
    if (known !== undefined) return known
    const levels = reportDeps.history.levels.ofClient(clientKeyOf(request))
    const made = reportShow(reportDeps, levels, findShow(deps, id)).finally(() => pending.delete(id))
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

  async function crewSheet(showId: number | undefined): Promise<CrewSheet> {
    const units = (await listAssignments(read, { is_active: true })).flatMap(({ wireless_unit, performer, role }) => {
      const channelId = deps.unitStore.get(wireless_unit)?.channel_id ?? null
      return channelId === null ? [] : { channelId, performer, role }
    })
    return toCrewSheet(showId === undefined ? null : findShow(deps, showId), {
      channels: deps.receiverStore.listFacts().flatMap(({ channels }) => channels),
      placeholders: deps.placeholderStore.list(),
      groups: deps.groups(undefined),
      packOf: (channelId) => deps.unitStore.ofChannel(channelId)?.name ?? null,
      performers: await listPerformers(read),
      assignments: units,
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
}

function findShow({ shows }: ReportRoutesDeps, id: number): Show {
  const show = shows().find((candidate) => candidate.id === id)
  if (show === undefined) throw new RequestError('not_found', { subject: `show ${id}` })
  return show
}

async function* toCsv<Body>(body: Promise<Body>, format: (body: Body) => string): AsyncIterable<string> {
  yield format(await body)
}
