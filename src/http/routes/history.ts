/** Routes for recorded levels. */

import type { FastifyRequest } from 'fastify'
import { storeRecentSeconds } from '../../actions/store-recent-seconds.ts'
import type { Group } from '../../contract/groups.ts'
import { historyOperations } from '../../contract/history.ts'
import type { Settings } from '../../contract/settings.ts'
import type { Channel } from '../../domain/equipment/receiver.ts'
import { toPlaceholderInData } from '../../domain/equipment/slots.ts'
import { RequestError } from '../../domain/errors.ts'
import { toDataAtTime } from '../../domain/history/data-at-time.ts'
import type { CsvPart, LevelHistory, LevelReader } from '../../domain/history/level-history.ts'
import { parseLevelExport, parseLevelQuery, parsePastSecond, wasRecorded } from '../../domain/history/query.ts'
import { globalScope, type SettingScope } from '../../domain/settings.ts'
import type { SiteLevels } from '../../domain/sites/followed-levels.ts'
import type { History } from '../../history/history.ts'
import type { PlaceholderStore } from '../../ingest/placeholder-store.ts'
import type { ReceiverStore } from '../../ingest/receiver-store.ts'
import { LruMap } from '../../platform/cache.ts'
import type { ChannelStateAt } from '../../storage/channel-states.ts'
import { clientKeyOf } from '../server/client-key.ts'
import type { ContractServer } from '../server/contract.ts'
import { sendBytes, sendCsv } from '../server/response.ts'

export interface HistoryRoutesDeps {
  readonly history: Pick<History, 'flush'> & { readonly levels: Pick<LevelHistory, 'ofClient'> }
  /** Returns the states of all channels at a time, in epoch milliseconds. */
  channelStatesAt(time: number): Promise<readonly ChannelStateAt[]>
  readonly siteHistory: SiteLevels
  readonly receiverStore: ReceiverStore
  readonly placeholderStore: Pick<PlaceholderStore, 'list'>
  groups(manufacturer: string | undefined): readonly Group[]
  /** Returns the effective settings of a scope. */
  settingsIn(scope: SettingScope): Settings
  now(): number
}

export function historyRoutes(app: ContractServer, deps: HistoryRoutesDeps): void {
  const levelsOf = (request: FastifyRequest) => deps.history.levels.ofClient(clientKeyOf(request))

  app.route({
    ...historyOperations.getHistoryLevels,
    handler: async (request, reply) => {
      const query = parseLevelQuery(request.query, deps.now())
      const levels = levelsOf(request)
      await requireChannels(deps, levels, query.channelIds)
      const followed = await deps.siteHistory.load(query, clientKeyOf(request))
      await storeRecentSeconds(deps.history, query.to * 1000, deps.now())
      return sendBytes(request, reply, await levels.query(query, followed))
    },
  })

  app.route({
    ...historyOperations.getHistoryLevelsCsv,
    handler: async (request, reply) => {
      const { channelIds, ...range } = parseLevelExport(request.query, deps.now())
      const levels = levelsOf(request)
      await requireChannels(deps, levels, channelIds)
      await storeRecentSeconds(deps.history, range.to * 1000, deps.now())
      const names = new Map(channelsOf(deps).map(({ id, name }) => [id, name]))
      const channels = channelIds.map((id) => ({ id, name: names.get(id) ?? '' }))
      const reading = { client: clientKeyOf(request), interrupted: new Map() }
      const loadFollowed = ({ start, end }: CsvPart) =>
        deps.siteHistory.loadSteps(channelIds, { from: start, to: end }, range.step, reading)
      return sendCsv(request, reply, 'levels.csv', levels.exportCsv({ ...range, channels }, loadFollowed))
    },
  })

  const moments = new LruMap<number, Moment>(maxMoments)
  app.route({
    ...historyOperations.getHistoryAt,
    handler: async (request, reply) => {
      const time = parsePastSecond(request.query.time, deps.now())
      let moment = moments.get(time)
      if (moment === undefined || deps.now() - moment.madeAt > momentMs) {
        moment = { madeAt: deps.now(), bytes: momentJson(deps, levelsOf(request), time) }
        moments.set(time, moment)
        moment.bytes.catch(() => moments.delete(time))
      }
      return sendBytes(request, reply, await moment.bytes)
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

async function momentJson(deps: HistoryRoutesDeps, reader: LevelReader, time: number): Promise<Uint8Array> {
  await storeRecentSeconds(deps.history, (time + 1) * 1000, deps.now())
  // Like its letter, the state of a second is that at its end.
  const [levels, rows] = await Promise.all([reader.at(time), deps.channelStatesAt(time * 1000 + 999)])
  if (levels === null) throw new RequestError('not_found', { subject: 'record of this time' })
  const states = new Map(rows.map(({ channel_id, state }) => [channel_id, state]))
  const today = {
    receivers: deps.receiverStore.listFacts(),
    config: deps.settingsIn(globalScope),
    groups: deps.groups(undefined),
    placeholders: deps.placeholderStore.list().map(toPlaceholderInData),
  }
  return Buffer.from(JSON.stringify(toDataAtTime({ time, levels, states }, today)))
}

function channelsOf({ receiverStore }: HistoryRoutesDeps): readonly Channel[] {
  return receiverStore.listAllFacts().flatMap(({ channels }) => channels)
}

/** Throws if a channel neither exists nor was ever recorded. */
async function requireChannels(deps: HistoryRoutesDeps, levels: LevelReader, ids: readonly number[]): Promise<void> {
  const existing = new Set(channelsOf(deps).map(({ id }) => id))
  for (const id of ids) {
    if (existing.has(id) || (await wasRecorded(levels, id))) continue
    throw new RequestError('bad_request', { details: `channels: there is no channel ${id}` })
  }
}
