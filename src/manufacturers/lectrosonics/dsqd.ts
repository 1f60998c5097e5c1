/**
 * The adapter for a DSQD at its command port. The device pushes nothing, so a subscription polls it. Every round
 * queries all levels and one other value in turn.
 */

import { setTimeout as pause } from 'node:timers/promises'
import type { RateLimit } from '../../domain/access/limits.ts'
import type { ChannelReading } from '../../domain/equipment/receiver.ts'
import { withoutLevels } from '../../domain/levels/level-sample.ts'
import { neverAborted } from '../../platform/wait.ts'
import type { UpstreamClient } from '../../upstream/client.ts'
import { createMisfits } from '../../upstream/field-table.ts'
import { timeFor, UnansweredQueries } from '../../upstream/queries.ts'
import {
  defineAdapter,
  type OnProblems,
  type PushEvent,
  type SubscriptionTargets,
  type UpstreamDevice,
  withoutParts,
} from '../plugin.ts'
import { type Answer, openSession, type Session } from './client.ts'
import {
  type Answers,
  identityQueries,
  isDsqd,
  keyOf,
  levelQueries,
  linkedChannels,
  listFields,
  listRefused,
  type Query,
  settingQueries,
  toChannels,
  toIdentity,
} from './device.ts'
import { fields } from './fields.ts'

interface Dsqd extends UpstreamDevice {
  readonly answers: Answers
  /** The IP address of the device. */
  readonly address: string
}

const minRoundMs = 250
/** All levels and one other value. */
const queriesPerRound = levelQueries.length + 1

export const dsqd = defineAdapter<Dsqd>({
  protocol: 'dsqd',
  async listDevices(client, signal = neverAborted) {
    const { session, answers } = await connect(client, signal)
    try {
      await sendQueries(session, levelQueries, answers)
      await sendQueries(session, settingQueries(answers), answers)
      const { address } = session
      return { devices: [{ id: toIdentity(answers, address).id, answers, address }], malformed: 0 }
    } finally {
      session.close()
    }
  },

  ...withoutParts,
  transformDeviceData: ({ answers, address }) => ({
    ...toIdentity(answers, address),
    channels: toChannels(answers),
    metadata: Object.fromEntries(answers),
  }),

  levels(_deviceType, rateLimit) {
    const polled = { kind: 'polled', intervalMs: roundMs(rateLimit, queriesPerRound) } as const
    return { rf: polled, audio: polled }
  },
  transport: 'tcp',
  pushesEverything: true,
  subscribe,
})

async function* subscribe(
  client: UpstreamClient,
  _targets: SubscriptionTargets,
  signal: AbortSignal,
  _onLevels?: unknown,
  onProblems?: OnProblems,
): AsyncGenerator<PushEvent> {
  const misfits = createMisfits(new URL(client.settings.baseUrl).host, fields)
  let session: Session | undefined
  try {
    const connection = await connect(client, signal)
    const { answers } = connection
    session = connection.session
    yield { type: 'open' }
    let answered = await sendQueries(session, levelQueries, answers)
    await sendQueries(session, settingQueries(answers), answers)
    const unanswered = new UnansweredQueries()
    for (let pending: Query[] = []; ; ) {
      // When all other values have been queried, the next report includes the identity again.
      const isComplete = pending.length === 0
      const identity = toIdentity(answers, session.address)
      const { id, kind } = identity
      const report = { ...(isComplete ? identity : { id, kind }), channels: toNewChannels(answers, answered) }
      const haveChanged = [misfits.check(listFields(answers)), misfits.setRefused(listRefused(answers))]
      // The first report also replaces the problems of the previous session.
      if (isComplete || haveChanged.includes(true)) onProblems?.(misfits.list())
      yield { type: 'report', report, isComplete }
      if (isComplete) pending = [...identityQueries, ...settingQueries(answers)]
      const round = unanswered.select([...levelQueries, ...pending.splice(0, 1)], keyOf)
      const nextAt = performance.now() + roundMs(client.settings.rateLimit, round.length)
      const linkedBefore = linkedChannels(answers)
      answered = await sendQueries(session, round, answers, unanswered)
      // A newly linked channel may have another transmitter, so the name of the previous one is discarded.
      for (const channel of linkedChannels(answers)) {
        if (linkedBefore.includes(channel)) continue
        const query = { name: 'txname', address: channel }
        answers.delete(keyOf(query))
        pending.unshift(query)
      }
      await pause(Math.max(0, nextAt - performance.now()), undefined, { signal })
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    session?.close()
  }
}

/** Throws the manufacturer's ApiError if the host is not a DSQD. */
async function connect(client: UpstreamClient, signal: AbortSignal) {
  const session = await openSession(client, signal)
  const answers = new Map<string, Answer>()
  try {
    await sendQueries(session, identityQueries.slice(0, 1), answers)
    if (!isDsqd(answers))
      throw new client.errors.ApiError(`${new URL(client.settings.baseUrl).host} responds, but is not a DSQD`, {
        failureKind: 'unusable',
      })
    await sendQueries(session, identityQueries.slice(1), answers)
    return { session, answers }
  } catch (error) {
    session.close()
    throw error
  }
}

/**
 * Sends the queries and stores their answers. An unanswered query keeps the earlier answer; without `unanswered`, it is
 * an error. Returns the keys of the answered queries.
 */
async function sendQueries(
  session: Session,
  queries: readonly Query[],
  answers: Map<string, Answer>,
  unanswered?: UnansweredQueries,
): Promise<ReadonlySet<string>> {
  const answered = new Set<string>()
  for (const query of queries) {
    const { name, address } = query
    const answer =
      unanswered === undefined ? await session.query(name, address) : await session.tryQuery(query, unanswered.waitMs)
    unanswered?.record(keyOf(query), answer !== undefined)
    if (answer === undefined) break
    answered.add(keyOf(query))
    answers.set(keyOf(query), answer)
  }
  return answered
}

/** Omits levels that were not received again. */
function toNewChannels(answers: Answers, answered: ReadonlySet<string>): readonly ChannelReading[] {
  return toChannels(answers).map((reading) => {
    const isNew = answered.has(keyOf({ name: 'chstat', address: reading.channel }))
    return isNew ? reading : withoutLevels(reading)
  })
}

function roundMs(rateLimit: RateLimit, queries: number): number {
  return Math.max(minRoundMs, timeFor(rateLimit, queries))
}
