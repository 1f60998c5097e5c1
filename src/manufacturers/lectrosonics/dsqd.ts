/**
 * The adapter for a DSQD at its command port. The device pushes nothing, so a subscription polls it: every round
 * queries all levels and one other value, so that all other values are queried in turn.
 */

import { setTimeout as pause } from 'node:timers/promises'
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
import { openSession, type Session } from './client.ts'
import {
  type Answer,
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

const never = new AbortController().signal
/** The share of the rate limit that a subscription uses; the rest remains for other requests. */
const rateShare = 0.8
const minRoundMs = 250
const polled = { kind: 'polled', intervalMs: 1000 } as const

export const dsqd = defineAdapter<Dsqd>({
  async listDevices(client, signal = never) {
    const { session, answers } = await connect(client, signal)
    try {
      await sendQueries(session, levelQueries, answers)
      await sendQueries(session, settingQueries(answers), answers)
      return { devices: [toDevice(session, answers)], malformed: 0 }
    } finally {
      session.close()
    }
  },

  ...withoutParts,
  transformDeviceData(device) {
    const { answers } = device
    const metadata = Object.fromEntries(answers)
    return { ...toReport(device), channels: toChannels(answers), metadata }
  },

  levels: () => ({ rf: polled, audio: polled }),
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
    await sendQueries(session, levelQueries, answers)
    await sendQueries(session, settingQueries(answers), answers)
    for (let pending: Query[] = []; ; ) {
      // When all other values have been queried, the next report includes the identity again.
      const identity = pending.length === 0 ? toReport(toDevice(session, answers)) : null
      const { id } = toDevice(session, answers)
      const report = { ...(identity ?? { id, kind: 'receiver' as const }), channels: toChannels(answers) }
      const haveChanged = [misfits.check(listFields(answers)), misfits.setRefused(listRefused(answers))]
      // The first report also replaces the problems of the previous session.
      if (identity !== null || haveChanged.includes(true)) onProblems?.(misfits.list())
      yield { type: 'report', report, isComplete: identity !== null }
      if (pending.length === 0) pending = [...identityQueries, ...settingQueries(answers)]
      const round = [...levelQueries, ...pending.splice(0, 1)]
      const nextAt = performance.now() + roundMs(client, round.length)
      const linkedBefore = linkedChannels(answers)
      await sendQueries(session, round, answers)
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

/** Connects and queries the identity. Throws the manufacturer's ApiError if the host is not a DSQD. */
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

/** Sends the queries and stores their answers. */
async function sendQueries(session: Session, queries: readonly Query[], answers: Map<string, Answer>): Promise<void> {
  for (const query of queries) answers.set(keyOf(query), await session.query(query.name, query.address))
}

function roundMs(client: UpstreamClient, queries: number): number {
  return Math.max(minRoundMs, (queries * 1000) / (client.settings.rateLimit.perSecond * rateShare))
}

function toDevice({ address }: Session, answers: Answers): Dsqd {
  return { id: toIdentity(answers, address).id, answers: new Map(answers), address }
}

function toReport({ answers, address }: Dsqd) {
  return toIdentity(answers, address)
}
