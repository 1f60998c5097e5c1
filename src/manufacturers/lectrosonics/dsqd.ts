/**
 * A DSQD over its command port. It tells nothing by itself, so a conversation that is kept open asks for the levels round
 * after round, and for everything else in turn.
 */

import { setTimeout as pause } from 'node:timers/promises'
import type { Link } from '../../upstream/link.ts'
import { defineForm, type Interest, type PushEvent, type UpstreamDevice } from '../plugin.ts'
import { type Dialogue, converse } from './client.ts'
import type { Value } from './codec.ts'
import {
  type Answers,
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
  /** Where it was asked. */
  readonly host: string
}

const never = new AbortController().signal
/** Share of the rate we may ask at that the levels take; the rest is for others who ask. */
const levelShare = 0.8
const shortestRoundMs = 250

export const dsqd = defineForm<Dsqd>({
  async listDevices(link, signal = never) {
    const { dialogue, answers } = await meet(link, signal)
    try {
      await askAll(dialogue, levelQuestions, answers)
      await askAll(dialogue, settingQuestions(answers), answers)
      return { devices: [toDevice(link, answers)], malformed: 0 }
    } finally {
      dialogue.close()
    }
  },

  // Everything was asked while it was listed.
  partsOf: () => [],
  readPart: (_link, device) => Promise.resolve(device),
  hasIdentity: () => true,
  withEarlierIdentity: (listed) => listed,
  isSameIdentity: (listed, before) => JSON.stringify(identify(listed)) === JSON.stringify(identify(before)),

  transformDeviceData(device) {
    const { answers } = device
    const metadata = Object.fromEntries(answers)
    return { ...identify(device), channels: toChannels(answers), metadata }
  },

  transport: 'tcp',
  tellsAll: true,
  subscribe,
})

async function* subscribe(link: Link, _interest: Interest, signal: AbortSignal): AsyncGenerator<PushEvent> {
  let dialogue: Dialogue | undefined
  try {
    const met = await meet(link, signal)
    const { answers } = met
    dialogue = met.dialogue
    yield { type: 'open' }
    await askAll(dialogue, levelQuestions, answers)
    await askAll(dialogue, settingQuestions(answers), answers)
    for (let inTurn: Question[] = []; ; ) {
      // Who it is stands at the beginning of every turn.
      const whole = inTurn.length === 0 ? identify(toDevice(link, answers)) : null
      const { id } = toDevice(link, answers)
      const observation = { ...(whole ?? { id, kind: 'receiver' as const }), channels: toChannels(answers) }
      yield { type: 'told', observation, isWhole: whole !== null }
      if (inTurn.length === 0) inTurn = [...identityQuestions, ...settingQuestions(answers)]
      const round = [...levelQuestions, ...inTurn.splice(0, 1)]
      const nextAt = performance.now() + roundMs(link, round.length)
      await askAll(dialogue, round, answers)
      await pause(Math.max(0, nextAt - performance.now()), undefined, { signal })
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    dialogue?.close()
  }
}

/** Throws the manufacturer's ApiError where something else answers. */
async function meet(link: Link, signal: AbortSignal) {
  const dialogue = await converse(link, signal)
  const answers = new Map<string, readonly Value[]>()
  try {
    await askAll(dialogue, identityQuestions.slice(0, 1), answers)
    if (!isDsqd(answers)) throw new link.errors.ApiError(`${hostOf(link)} answers, but is no DSQD`)
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

function roundMs(link: Link, questions: number): number {
  return Math.max(shortestRoundMs, (questions * 1000) / (link.settings.pace.perSecond * levelShare))
}

function toDevice(link: Link, answers: Answers): Dsqd {
  const host = hostOf(link)
  return { id: toIdentity(answers, host).id, answers: new Map(answers), host }
}

function identify({ answers, host }: Dsqd) {
  return toIdentity(answers, host)
}

function hostOf(link: Link): string {
  return new URL(link.settings.baseUrl).hostname
}
