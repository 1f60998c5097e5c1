/** Reads the line check of a show: what people entered, and the readings since each check began. */

import type { ChannelCheckBody } from '../../contract/checks.ts'
import { type CheckState, notChecked, toChannelCheck, toCheckStates, type WalkTest } from '../../domain/checks.ts'
import type { Channel } from '../../domain/equipment/receiver.ts'
import { plannedIn } from '../../domain/frequencies/stored-plan.ts'
import { noWalkLevels, type WalkLevels } from '../../domain/history/level-summary.ts'
import { globalScope } from '../../domain/settings.ts'
import { listChannelsOfShow, type Show } from '../../domain/shows.ts'
import { audioFloorOf } from '../../manufacturers/index.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { listDropouts } from '../../storage/events.ts'
import { listChecks, plannedFrequencies } from '../../storage/shows.ts'

/** Returns the line check of the channels of a show, by slot; of those in `only` if it is given. */
export async function readLineCheck(
  service: Service,
  show: Show,
  client: string,
  only?: ReadonlySet<number>,
): Promise<readonly ChannelCheckBody[]> {
  const selected = listCheckedChannels(service, show).filter(
    ({ channel }) => only === undefined || only.has(channel.id),
  )
  const states = toCheckStates(await listChecks(service.db.read, show.id))
  const stateOf = ({ id }: Channel) => states.get(id) ?? notChecked
  const planned = await plannedFrequencies(service.db.read, show.id)
  const time = now()
  const walkTests = await readWalkTests(
    service,
    selected.map(({ channel }) => [channel.id, stateOf(channel)]),
    show.ended_at ?? time,
    client,
  )
  const { activePlan } = service.lists.current
  return selected.map(({ receiver, channel }) => {
    const inPlan = plannedIn(activePlan, channel.slot)
    return toChannelCheck(stateOf(channel), {
      channel,
      audioFloor: audioFloorOf(receiver),
      forecast: service.forecasts.currentForecast(channel),
      walkTest: walkTests.get(channel.id) ?? null,
      plannedFrequency: inPlan ?? planned.get(channel.id) ?? null,
      plan: activePlan === null || inPlan === null ? null : { id: activePlan.id, title: activePlan.title },
      endsAt: show.ends_at,
      now: time,
    })
  })
}

/** Lists the channels of a show with their receivers, by slot. */
function listCheckedChannels({ receiverStore, lists }: Service, show: Show) {
  const listed = receiverStore.list().flatMap((receiver) => receiver.channels.map((channel) => ({ receiver, channel })))
  const channels = listed.map(({ channel }) => channel)
  const ids = new Set(listChannelsOfShow(show, channels, lists.current.groups))
  return listed.filter(({ channel }) => ids.has(channel.id)).toSorted((a, b) => a.channel.slot - b.channel.slot)
}

/** Returns the readings of each channel since its check began, until `now` (epoch ms). */
async function readWalkTests(
  { db, walkTests, settings }: Service,
  states: readonly (readonly [channelId: number, CheckState])[],
  now: number,
  client: string,
): Promise<ReadonlyMap<number, WalkTest>> {
  const begun = states.flatMap(([channelId, { began_at }]) =>
    began_at === null ? [] : { channelId, beganAt: began_at },
  )
  if (begun.length === 0) return new Map()
  const from = Math.min(...begun.map(({ beganAt }) => beganAt))
  const dropouts = await listDropouts(db.read, { from, to: now })
  const isRecording = settings.inScope(globalScope).HISTORY
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
