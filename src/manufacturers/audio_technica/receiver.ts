/**
 * The adapter for Audio-Technica receivers and chargers at their control port. Micwatch never sets a value, and they push
 * only what is switched on in their settings, so a subscription polls: every round queries the levels, links and mutes,
 * and a few other values, so that all other values are queried in turn.
 */

import { setTimeout as pause } from 'node:timers/promises'
import type { ChannelReading, DeviceReport } from '../../domain/equipment/receiver.ts'
import { type LevelKind, levelKinds } from '../../domain/levels/level-delivery.ts'
import { withoutLevels } from '../../domain/levels/level-sample.ts'
import type { UpstreamClient } from '../../upstream/client.ts'
import { createMisfits } from '../../upstream/field-table.ts'
import {
  defineAdapter,
  type OnProblems,
  type PushEvent,
  type SubscriptionTargets,
  type UpstreamDevice,
  withoutParts,
} from '../plugin.ts'
import { charger } from './charger.ts'
import { openSession, type Session } from './client.ts'
import { describeErrorCode, isBusy, type Query, type Reply } from './codec.ts'
import { esw } from './esw.ts'
import {
  createReader,
  type Family,
  keyOf,
  listFields,
  listRefused,
  queriesFor,
  type Replies,
  toIdentity,
} from './family.ts'
import { device as deviceFields } from './fields.ts'
import { system20 } from './system20.ts'

interface Receiver extends UpstreamDevice {
  readonly family: Family
  readonly replies: Replies
  /** The IP address of the device. */
  readonly address: string
}

const families: readonly Family[] = [system20, esw, charger]

const never = new AbortController().signal
/** The share of the rate limit that a subscription uses; the rest remains for other requests. */
const rateShare = 0.8
const minRoundMs = 250
const polled = { kind: 'polled', intervalMs: 1000 } as const
/** Settings that are queried in a round at least. More are if the rate limit allows them in the shortest round. */
const minSettingsPerRound = 3

export const receiver = defineAdapter<Receiver>({
  async listDevices(client, signal = never) {
    const session = await openSession(client, signal)
    try {
      return { devices: [await readReceiver(client, session, new Map())], malformed: 0 }
    } finally {
      session.close()
    }
  },

  ...withoutParts,
  transformDeviceData(device) {
    const metadata = Object.fromEntries([...device.replies].map(([key, reply]) => [key, describeReply(reply)]))
    return { ...toReport(device), metadata }
  },

  levels(deviceType) {
    const family = families.find((known) => known.deviceType === deviceType)
    const levels = family?.levelCommands === undefined ? null : polled
    return { rf: levels, audio: levels }
  },
  transport: 'tcp',
  pushesEverything: true,
  startsWithFullReport: true,
  subscribe,
})

async function* subscribe(
  client: UpstreamClient,
  _targets: SubscriptionTargets,
  signal: AbortSignal,
  _onLevels?: unknown,
  onProblems?: OnProblems,
): AsyncGenerator<PushEvent> {
  const perMs = (client.settings.rateLimit.perSecond * rateShare) / 1000
  let session: Session | undefined
  try {
    session = await openSession(client, signal)
    yield { type: 'open' }
    const replies = new Map<string, Reply>()
    const device = await readReceiver(client, session, replies)
    const { family, id } = device
    const misfits = createMisfits(new URL(client.settings.baseUrl).host, family.fields)
    const reportProblems = ({ isFirst }: { isFirst: boolean }) => {
      const haveChanged = [misfits.check(listFields(family, replies)), misfits.setRefused(listRefused(family, replies))]
      // The first report also replaces the problems of the previous session.
      if (isFirst || haveChanged.includes(true)) onProblems?.(misfits.list())
    }
    reportProblems({ isFirst: true })
    yield { type: 'report', report: toReport(device), isComplete: true }
    for (let pending: Query[] = []; ; ) {
      if (pending.length === 0) pending = [...family.identityQueries, ...family.settingQueries(replies)]
      const levels = family.levelQueries(replies)
      const settings = Math.max(minSettingsPerRound, Math.floor(perMs * minRoundMs) - levels.length)
      const round = [...levels, ...pending.splice(0, settings)]
      const startedAt = performance.now()
      const linkedBefore = linkedPositions(family, replies)
      const busy = await sendQueries(session, round, replies)
      // There may be another transmitter where one has appeared, so the values of the previous one are discarded.
      const linked = linkedPositions(family, replies).filter((position) => !linkedBefore.includes(position))
      const queries = queriesFor(family.transmitterCommands, linked)
      for (const query of queries) replies.delete(keyOf(query))
      await sendQueries(session, queries, replies)
      reportProblems({ isFirst: false })
      // When all other values have been queried, the report includes the identity again.
      const isComplete = pending.length === 0
      const current = { ...device, replies }
      const complete = isComplete ? toReport(current) : { id, kind: 'receiver' as const, ...toContents(current) }
      const report = { ...complete, channels: withoutOldLevels(complete.channels ?? [], family, busy) }
      yield { type: 'report', report, isComplete }
      const roundMs = Math.max(minRoundMs, (round.length + queries.length) / perMs)
      await pause(Math.max(0, startedAt + roundMs - performance.now()), undefined, { signal })
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    session?.close()
  }
}

/** Queries everything. Throws the manufacturer's ApiError if the model is not supported. */
async function readReceiver(client: UpstreamClient, session: Session, replies: Map<string, Reply>): Promise<Receiver> {
  replies.set('gmymodel', session.model)
  const model = createReader(replies)(deviceFields.model) ?? ''
  const family = families.find(({ isModel }) => isModel(model))
  if (family === undefined) {
    throw new client.errors.ApiError(
      `${new URL(client.settings.baseUrl).host} is an Audio-Technica device of the model ${model || 'unknown'}, which is not supported`,
      { failureKind: 'unsupported' },
    )
  }
  await sendQueries(session, family.identityQueries, replies)
  // The first answers show where there is a transmitter, and thereby what else to query.
  for (const queries of [family.levelQueries, family.levelQueries, family.settingQueries]) {
    const missing = queries(replies).filter((query) => !replies.has(keyOf(query)))
    await sendQueries(session, missing, replies)
  }
  const { address } = session
  return { id: family.idOf(replies, address), family, replies: new Map(replies), address }
}

/**
 * Sends the queries and stores the replies. While the receiver is busy, the earlier reply is kept. Returns the keys of
 * the queries for which it was busy.
 */
async function sendQueries(
  session: Session,
  queries: readonly Query[],
  replies: Map<string, Reply>,
): Promise<ReadonlySet<string>> {
  const busy = new Set<string>()
  for (const query of queries) {
    const reply = await session.query(query)
    if (isBusy(reply)) busy.add(keyOf(query))
    else replies.set(keyOf(query), reply)
  }
  return busy
}

/** Removes the levels from earlier replies, because they have not been received again. */
function withoutOldLevels(
  channels: readonly ChannelReading[],
  { levelCommands }: Family,
  busy: ReadonlySet<string>,
): readonly ChannelReading[] {
  if (levelCommands === undefined || busy.size === 0) return channels
  return channels.map((reading) => {
    const { channel } = reading
    const isOld = (kind: LevelKind) => busy.has(keyOf({ command: levelCommands[kind], channel }))
    return withoutLevels(reading, levelKinds.filter(isOld))
  })
}

function linkedPositions(family: Family, replies: Replies): readonly number[] {
  return family.positions.filter((position) => family.isLinked(replies, position))
}

function toReport(device: Receiver) {
  return { ...toIdentity(device.family, device.replies, device.address), ...toContents(device) }
}

/** Returns the channels of a receiver, or the packs in a charger. */
function toContents({ family, replies, address }: Receiver): Pick<DeviceReport, 'channels' | 'units'> {
  const channels = family.positions.flatMap((channel) => family.toChannel?.(replies, channel) ?? [])
  const units = family.toUnits?.(replies, toIdentity(family, replies, address))
  return { channels, ...(units !== undefined && { units }) }
}

function describeReply(reply: Reply) {
  return 'errorCode' in reply ? describeErrorCode(reply.errorCode) : (reply.values ?? 'malformed')
}
