/** Routes for recorded levels. */

import type { FastifyRequest } from 'fastify'
import { storeRecentSeconds } from '../../actions/store-recent-seconds.ts'
import { historyOperations } from '../../contract/history.ts'
import type { Channel } from '../../domain/equipment/receiver.ts'
import { toPlaceholderInData } from '../../domain/equipment/slots.ts'
import { RequestError } from '../../domain/errors.ts'
import { toDataAtTime } from '../../domain/history/data-at-time.ts'
import type { CsvPart, LevelReader } from '../../domain/history/level-history.ts'
import { parseLevelExport, parseLevelQuery, parsePastSecond, wasRecorded } from '../../domain/history/query.ts'
import { globalScope } from '../../domain/settings.ts'
import { LruMap } from '../../platform/cache.ts'
import { now as wallClock } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { listChannelStatesAt } from '../../storage/channel-states.ts'
import { clientKeyOf } from '../server/client-key.ts'
import type { ContractServer } from '../server/contract.ts'
import { sendBytes, sendCsv } from '../server/response.ts'

export function historyRoutes(app: ContractServer, service: Service, now = wallClock): void {
  const { history, siteHistory } = service
  const levelsOf = (request: FastifyRequest) => history.levels.ofClient(clientKeyOf(request))

  app.route({
    ...historyOperations.getHistoryLevels,
    handler: async (request, reply) => {
      const query = parseLevelQuery(request.query, now())
      const levels = levelsOf(request)
      await requireChannels(service, levels, query.channelIds)
      const followed = await siteHistory.load(query, clientKeyOf(request))
      await storeRecentSeconds(history, query.to * 1000, now())
      return sendBytes(reply, await levels.query(query, followed))
    },
  })

  app.route({
    ...historyOperations.getHistoryLevelsCsv,
    handler: async (request, reply) => {
      const { channelIds, ...range } = parseLevelExport(request.query, now())
      const levels = levelsOf(request)
      await requireChannels(service, levels, channelIds)
      await storeRecentSeconds(history, range.to * 1000, now())
      const records = [...service.slotRecords.current().values()]
      const titles = new Map(records.map(({ channel_id, title }) => [channel_id, title]))
      const channels = channelIds.map((id) => ({ id, name: titles.get(id) ?? '' }))
      const reading = { client: clientKeyOf(request), interrupted: new Map() }
      const loadFollowed = ({ start, end }: CsvPart) =>
        siteHistory.loadSteps(channelIds, { from: start, to: end }, range.step, reading)
      return sendCsv(request, reply, 'levels.csv', levels.exportCsv({ ...range, channels }, loadFollowed))
    },
  })

  const moments = new LruMap<number, Moment>(maxMoments)
  app.route({
    ...historyOperations.getHistoryAt,
    handler: async (request, reply) => {
      const time = parsePastSecond(request.query.time, now())
      let moment = moments.get(time)
      if (moment === undefined || now() - moment.madeAt > momentMs) {
        moment = { madeAt: now(), bytes: momentJson(service, levelsOf(request), time, now()) }
        moments.set(time, moment)
        moment.bytes.catch(() => moments.delete(time))
      }
      return sendBytes(reply, await moment.bytes)
    },
  })
}

/** The response for a time, which is shared by clients that replay the same moment together. */
interface Moment {
  readonly madeAt: number
  readonly bytes: Promise<Uint8Array>
}

const maxMoments = 8
/** Short, because the response contains facts of today. */
const momentMs = 2000

async function momentJson(service: Service, reader: LevelReader, time: number, now: number): Promise<Uint8Array> {
  await storeRecentSeconds(service.history, (time + 1) * 1000, now)
  // Like its letter, the state of a second is that at its end.
  const [levels, rows] = await Promise.all([reader.at(time), listChannelStatesAt(service.db.read, time * 1000 + 999)])
  if (levels === null) throw new RequestError('not_found', { subject: 'record of this time' })
  const states = new Map(rows.map(({ channel_id, state }) => [channel_id, state]))
  const today = {
    receivers: service.receiverStore.listFacts(),
    config: service.settings.toBody(globalScope),
    groups: service.lists.current.groups,
    placeholders: service.placeholderStore.list().map(toPlaceholderInData),
  }
  return Buffer.from(JSON.stringify(toDataAtTime({ time, levels, states }, today)))
}

function channelsOf({ receiverStore }: Service): readonly Channel[] {
  return receiverStore.listAllFacts().flatMap(({ channels }) => channels)
}

/** Throws if a channel neither exists nor was ever recorded. */
async function requireChannels(service: Service, levels: LevelReader, ids: readonly number[]): Promise<void> {
  const existing = new Set(channelsOf(service).map(({ id }) => id))
  for (const id of ids) {
    if (existing.has(id) || (await wasRecorded(levels, id))) continue
    throw new RequestError('bad_request', { details: `channels: there is no channel ${id}` })
  }
}
