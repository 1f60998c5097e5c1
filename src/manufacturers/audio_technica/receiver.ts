/**
 * The adapter for Audio-Technica receivers and chargers at their control port. Micwatch never sets a value, and devices
 * push only what their settings enable, so a subscription polls. Every round queries the levels, links and mutes, and a
 * few other values in turn.
 */

import { setTimeout as pause } from 'node:timers/promises'
import type { RateLimit } from '../../domain/access/limits.ts'
import type { ChannelReading, DeviceReport } from '../../domain/equipment/receiver.ts'
import { type LevelKind, levelKinds, withoutLevels } from '../../domain/levels/level-sample.ts'
import { neverAborted } from '../../platform/wait.ts'
import type { UpstreamClient } from '../../upstream/client.ts'
import { createMisfits } from '../../upstream/field-table.ts'
import { queriesIn, timeFor, UnansweredQueries } from '../../upstream/queries.ts'
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

const minRoundMs = 250
/** The minimum number of settings per round. The shortest round contains more if the rate limit allows. */
const minSettingsPerRound = 3

export const receiver = defineAdapter<Receiver>({
  protocol: 'audio_technica',
  async listDevices(client, signal = neverAborted) {
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

  levels(deviceType, rateLimit) {
    const family = families.find((known) => known.deviceType === deviceType)
    if (family?.levelCommands === undefined) return { rf: null, audio: null }
    // Both levels and the mute of each channel, if all have a transmitter.
    const queries = 3 * family.positions.length + minSettingsPerRound
    const polled = { kind: 'polled', intervalMs: roundMs(rateLimit, queries) } as const
    return { rf: polled, audio: polled }
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
  const { rateLimit } = client.settings
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
    const unanswered = new UnansweredQueries()
    yield { type: 'report', report: toReport(device), isComplete: true }
    for (let pending: Query[] = []; ; ) {
      if (pending.length === 0) pending = [...family.identityQueries, ...family.settingQueries(replies)]
      const levels = family.levelQueries(replies)
      const settings = Math.max(minSettingsPerRound, queriesIn(rateLimit, minRoundMs) - levels.length)
      const round = unanswered.select([...levels, ...pending.splice(0, settings)], keyOf)
      const startedAt = performance.now()
      const linkedBefore = linkedPositions(family, replies)
      const answered = await sendQueries(session, round, { replies, unanswered })
      // A position that is newly linked may have another transmitter, so the values of the previous one are discarded.
      const linked = linkedPositions(family, replies).filter((position) => !linkedBefore.includes(position))
      const queries = queriesFor(family.transmitterCommands, linked)
      for (const query of queries) replies.delete(keyOf(query))
      await sendQueries(session, queries, { replies, unanswered })
      reportProblems({ isFirst: false })
      // When all other values have been queried, the report includes the identity again.
      const isComplete = pending.length === 0
      const current = { ...device, replies }
      const complete = isComplete ? toReport(current) : { id, kind: 'receiver' as const, ...toContents(current) }
      const report = {
        ...complete,
        channels: withoutOldLevels(complete.channels ?? [], family, answered),
      }
      yield { type: 'report', report, isComplete }
      const endsAt = startedAt + roundMs(rateLimit, round.length + queries.length)
      await pause(Math.max(0, endsAt - performance.now()), undefined, { signal })
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    session?.close()
  }
}

/** Throws the manufacturer's ApiError if the model is not supported. */
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
  await sendQueries(session, family.identityQueries, { replies })
  // The first answers show which channels have a transmitter, and therefore which queries follow.
  for (const queries of [family.levelQueries, family.levelQueries, family.settingQueries]) {
    const missing = queries(replies).filter((query) => !replies.has(keyOf(query)))
    await sendQueries(session, missing, { replies })
  }
  const { address } = session
  return { id: family.idOf(replies, address), family, replies: new Map(replies), address }
}

/**
 * Sends the queries and stores the replies. A busy receiver or an unanswered query keeps the earlier reply. Without
 * `unanswered`, throws the manufacturer's ApiError if a query is not answered. Returns the keys of the queries with new
 * replies.
 */
async function sendQueries(
  session: Session,
  queries: readonly Query[],
  { replies, unanswered }: { replies: Map<string, Reply>; unanswered?: UnansweredQueries },
): Promise<ReadonlySet<string>> {
  const answered = new Set<string>()
  for (const query of queries) {
    const key = keyOf(query)
    const reply =
      unanswered === undefined ? await session.query(query) : await session.tryQuery(query, unanswered.waitMs)
    unanswered?.record(key, reply !== null)
    if (reply === null) break
    if (isBusy(reply)) continue
    replies.set(key, reply)
    answered.add(key)
  }
  return answered
}

/** Removes the levels that were not received again from earlier replies. */
function withoutOldLevels(
  channels: readonly ChannelReading[],
  { levelCommands }: Family,
  answered: ReadonlySet<string>,
): readonly ChannelReading[] {
  if (levelCommands === undefined) return channels
  return channels.map((reading) => {
    const { channel, rf_level, audio_level } = reading
    // Without a transmitter, the audio level is not queried and is unknown.
    const isOld = (kind: LevelKind) =>
      (kind === 'rf' ? rf_level : audio_level) !== null &&
      !answered.has(keyOf({ command: levelCommands[kind], channel }))
    return withoutLevels(reading, levelKinds.filter(isOld))
  })
}

/** The duration of a round with this many queries. */
function roundMs(rateLimit: RateLimit, queries: number): number {
  return Math.max(minRoundMs, timeFor(rateLimit, queries))
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
