/**
 * A DSQD over its command port. It tells nothing by itself, so a conversation that is kept open asks for the levels round
 * after round, and for everything else in turn.
 */

import { setTimeout as pause } from 'node:timers/promises'
import type { UpstreamClient } from '../../upstream/client.ts'
import {
  defineAdapter,
  type PushEvent,
  type SubscriptionTargets,
  type UpstreamDevice,
  withoutParts,
} from '../plugin.ts'
import { converse, type Dialogue } from './client.ts'
import type { Value } from './codec.ts'
import {
  type Answers,
  heardChannels,
  identityQuestions,
  isDsqd,
  keyOf,
  levelQuestions,
  type Question,
  settingQuestions,
  toChannels,
  toIdentity,
} from './device.ts'

interface Dsqd extends UpstreamDevice {
  readonly answers: Answers
  /** Where it answered. */
  readonly address: string
}

const never = new AbortController().signal
/** Share of the rate we may ask at that the levels take; the rest is for others who ask. */
const levelShare = 0.8
const shortestRoundMs = 250

export const dsqd = defineAdapter<Dsqd>({
  async listDevices(client, signal = never) {
    const { dialogue, answers } = await meet(client, signal)
    try {
      await askAll(dialogue, levelQuestions, answers)
      await askAll(dialogue, settingQuestions(answers), answers)
      return { devices: [toDevice(dialogue, answers)], malformed: 0 }
    } finally {
      dialogue.close()
    }
  },

  ...withoutParts,
  transformDeviceData(device) {
    const { answers } = device
    const metadata = Object.fromEntries(answers)
    return { ...identify(device), channels: toChannels(answers), metadata }
  },

  transport: 'tcp',
  pushesEverything: true,
  subscribe,
})

async function* subscribe(
  client: UpstreamClient,
  _interest: SubscriptionTargets,
  signal: AbortSignal,
): AsyncGenerator<PushEvent> {
  let dialogue: Dialogue | undefined
  try {
    const met = await meet(client, signal)
    const { answers } = met
    dialogue = met.dialogue
    yield { type: 'open' }
    await askAll(dialogue, levelQuestions, answers)
    await askAll(dialogue, settingQuestions(answers), answers)
    for (let inTurn: Question[] = []; ; ) {
      // Who it is stands at the beginning of every turn.
      const whole = inTurn.length === 0 ? identify(toDevice(dialogue, answers)) : null
      const { id } = toDevice(dialogue, answers)
      const report = { ...(whole ?? { id, kind: 'receiver' as const }), channels: toChannels(answers) }
      yield { type: 'told', report, isComplete: whole !== null }
      if (inTurn.length === 0) inTurn = [...identityQuestions, ...settingQuestions(answers)]
      const round = [...levelQuestions, ...inTurn.splice(0, 1)]
      const nextAt = performance.now() + roundMs(client, round.length)
      const heardBefore = heardChannels(answers)
      await askAll(dialogue, round, answers)
      // Another transmitter perhaps, and what the last one was called says nothing of it.
      for (const channel of heardChannels(answers)) {
        if (heardBefore.includes(channel)) continue
        const question = { name: 'txname', address: channel }
        answers.delete(keyOf(question))
        inTurn.unshift(question)
      }
      await pause(Math.max(0, nextAt - performance.now()), undefined, { signal })
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    dialogue?.close()
  }
}

/** Throws the manufacturer's ApiError where something else answers. */
async function meet(client: UpstreamClient, signal: AbortSignal) {
  const dialogue = await converse(client, signal)
  const answers = new Map<string, readonly Value[]>()
  try {
    await askAll(dialogue, identityQuestions.slice(0, 1), answers)
    if (!isDsqd(answers))
      throw new client.errors.ApiError(`${new URL(client.settings.baseUrl).host} answers, but is no DSQD`, {
        failureKind: 'unusable',
      })
    await askAll(dialogue, identityQuestions.slice(1), answers)
    return { dialogue, answers }
  } catch (error) {
    dialogue.close()
    throw error
  }
}

/** What is refused is not known any more. */
async function askAll(
  dialogue: Dialogue,
  questions: readonly Question[],
  answers: Map<string, readonly Value[]>,
): Promise<void> {
  for (const question of questions) {
    const values = await dialogue.ask(question.name, question.address)
    if (values === null) answers.delete(keyOf(question))
    else answers.set(keyOf(question), values)
  }
}

function roundMs(client: UpstreamClient, questions: number): number {
  return Math.max(shortestRoundMs, (questions * 1000) / (client.settings.rateLimit.perSecond * levelShare))
}

function toDevice({ address }: Dialogue, answers: Answers): Dsqd {
  return { id: toIdentity(answers, address).id, answers: new Map(answers), address }
}

function identify({ answers, address }: Dsqd) {
  return toIdentity(answers, address)
}
