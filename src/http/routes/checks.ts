/** Routes for line checks. */

import { addCheck, beginCheck, type LineCheckDeps } from '../../actions/shows/line-check.ts'
import { type ChannelCheckBody, checkOperations } from '../../contract/checks.ts'
import type { Group } from '../../contract/groups.ts'
import type { Settings } from '../../contract/settings.ts'
import {
  type CheckState,
  notChecked,
  toChannelCheck,
  toCheckBody,
  toCheckStates,
  type WalkTest,
} from '../../domain/checks.ts'
import type { Channel, Receiver } from '../../domain/equipment/receiver.ts'
import { RequestError } from '../../domain/errors.ts'
import type { Forecast } from '../../domain/forecast/forecast.ts'
import { noWalkLevels, type WalkLevels } from '../../domain/history/walk-test.ts'
import { globalScope, type SettingScope } from '../../domain/settings.ts'
import { listChannelsOfShow, type Show } from '../../domain/shows.ts'
import type { ReceiverStore } from '../../ingest/receiver-store.ts'
import { listChecks } from '../../storage/checks.ts'
import { listDropouts } from '../../storage/events.ts'
import { plannedFrequencies } from '../../storage/shows.ts'
import { clientKeyOf } from '../server/client-key.ts'
import type { ContractServer } from '../server/contract.ts'
import { paginate } from '../server/response.ts'

export interface CheckRoutesDeps {
  readonly checkDeps: LineCheckDeps
  readonly walkTests: {
    /** Returns what was recorded of each channel from the beginning of its check until `now`, in epoch ms. */
    read(
      checks: readonly { readonly channelId: number; readonly beganAt: number }[],
      now: number,
      client: string,
    ): Promise<ReadonlyMap<number, WalkLevels>>
  }
  readonly receiverStore: ReceiverStore
  /** Returns the lowest audio level in dBFS that the receiver can report, if it is above -60; otherwise null. */
  audioFloorOf(receiver: Receiver): number | null
  /** Returns the forecast of this moment, not rounded. */
  forecastOf(channel: Channel): Forecast | null
  shows(): readonly Show[]
  groups(manufacturer: string | undefined): readonly Group[]
  settingsIn(scope: SettingScope): Settings
}

export function checkRoutes(app: ContractServer, deps: CheckRoutesDeps): void {
  const { checkDeps } = deps

  app.route({
    ...checkOperations.listChecks,
    handler: async (request) => {
      const show = findShow(deps, request.params.id)
      return paginate(request, await readLineCheck(deps, show, request.query.channel, clientKeyOf(request)))
    },
  })

  app.route({
    ...checkOperations.createCheck,
    handler: async ({ actor, params, body: { note = null, ...body } }, reply) => {
      reply.code(201)
      return toCheckBody(await addCheck(checkDeps, actor, { show_id: params.id, note: note || null, ...body }))
    },
  })

  app.route({
    ...checkOperations.beginCheck,
    handler: async ({ actor, params, body }) =>
      toCheckBody(await beginCheck(checkDeps, actor, { show_id: params.id, ...body })),
  })
}

function findShow({ shows }: CheckRoutesDeps, id: number): Show {
  const show = shows().find((candidate) => candidate.id === id)
  if (show === undefined) throw new RequestError('not_found', { subject: `show ${id}` })
  return show
}

/** Returns the line check of the channels of a show, by slot; of one channel if `only` is given. */
async function readLineCheck(
  deps: CheckRoutesDeps,
  show: Show,
  only: number | undefined,
  client: string,
): Promise<readonly ChannelCheckBody[]> {
  const channels = listCheckedChannels(deps, show)
  const selected = only === undefined ? channels : channels.filter(({ channel }) => channel.id === only)
  if (only !== undefined && selected.length === 0) {
    throw new RequestError('bad_request', { details: `channel: channel ${only} is not part of the show` })
  }
  const states = toCheckStates(await listChecks(deps.checkDeps.db.read, show.id))
  const stateOf = ({ id }: Channel) => states.get(id) ?? notChecked
  const planned = await plannedFrequencies(deps.checkDeps.db.read, show.id)
  const now = deps.checkDeps.now()
  const walkTests = await readWalkTests(
    deps,
    selected.map(({ channel }) => [channel.id, stateOf(channel)]),
    show.ended_at ?? now,
    client,
  )
  return selected.map(({ receiver, channel }) =>
    toChannelCheck(stateOf(channel), {
      channel,
      audioFloor: deps.audioFloorOf(receiver),
      forecast: deps.forecastOf(channel),
      walkTest: walkTests.get(channel.id) ?? null,
      plannedFrequency: planned.get(channel.id) ?? null,
      endsAt: show.ends_at,
      now,
    }),
  )
}

/** Lists the channels of a show with their receivers, by slot. */
function listCheckedChannels({ receiverStore, groups }: CheckRoutesDeps, show: Show) {
  const listed = receiverStore.list().flatMap((receiver) => receiver.channels.map((channel) => ({ receiver, channel })))
  const channels = listed.map(({ channel }) => channel)
  const ids = new Set(listChannelsOfShow(show, channels, groups(undefined)))
  return listed.filter(({ channel }) => ids.has(channel.id)).toSorted((a, b) => a.channel.slot - b.channel.slot)
}

/** Returns what was received of each channel whose check has begun, until `now` (epoch ms). */
async function readWalkTests(
  { checkDeps, walkTests, settingsIn }: CheckRoutesDeps,
  states: readonly (readonly [channelId: number, CheckState])[],
  now: number,
  client: string,
): Promise<ReadonlyMap<number, WalkTest>> {
  const begun = states.flatMap(([channelId, { began_at }]) =>
    began_at === null ? [] : { channelId, beganAt: began_at },
  )
  if (begun.length === 0) return new Map()
  const from = Math.min(...begun.map(({ beganAt }) => beganAt))
  const dropouts = await listDropouts(checkDeps.db.read, { from, to: now })
  const isRecording = settingsIn(globalScope).HISTORY
  const levels = isRecording ? await walkTests.read(begun, now, client) : new Map<number, WalkLevels>()
  return new Map(
    begun.map(({ channelId, beganAt }) => [
      channelId,
      {
        ...(levels.get(channelId) ?? noWalkLevels),
        dropouts: dropouts.filter(({ channel_id, ends_at }) => channel_id === channelId && ends_at >= beganAt).length,
      },
    ]),
  )
}
