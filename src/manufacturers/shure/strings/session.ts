/** A conversation with one receiver in command strings: who it is, what it tells, and its meters, until it is lost. */

import { isIPv4 } from 'node:net'
import type { UpstreamClient } from '../../../upstream/client.ts'
import type { DeviceSocket } from '../../../upstream/device-socket.ts'
import { openTcpSocket } from '../../../upstream/tcp.ts'
import { openUdpSocket } from '../../../upstream/udp.ts'
import {
  countByModel,
  type Family,
  meterCommands,
  numbersOf,
  probes,
  questions,
  recognise,
  uhfr,
  type Words,
} from './families.ts'
import { cutAngles } from './frames.ts'
import { createHearing, type Heard, type Hearing } from './hearing.ts'
import { idOf, type StringsDevice } from './translate.ts'

/** What is new of a device. Its words go on changing with what it tells. */
export interface News extends Heard {
  readonly device: StringsDevice
}

/** A device that meters is heard at least once a second; so long without a sound, it is lost. */
const silentMs = 5_000
/** What it may not have pushed by itself is asked for again so often. */
const refreshEveryMs = 30_000
/** The same of a device that meters nothing: by its answers it is known to be there. */
const askEveryMs = 3_000
/** So long after everything else has come, nobody waits for what may never come. */
const settledMs = 400

/**
 * Yields first when everything is told and every channel has metered, then whenever something is new. Ends quietly on
 * abort, throws the manufacturer's ApiError when the device is not there, is no receiver, or is lost.
 */
export async function* converse(client: UpstreamClient, signal: AbortSignal): AsyncGenerator<News> {
  const { protocol } = new URL(client.settings.baseUrl)
  let family: Family | null = protocol === 'udp:' ? uhfr : null
  // A QLX-D that is left while it meters hangs, its front panel too.
  const farewell = () => family?.envelope && meterCommands(family, hearing.words, 0).join('')
  const talk =
    protocol === 'udp:'
      ? await openUdpSocket(client, { signal, silentMs, farewell })
      : await openTcpSocket(client, { signal, silentMs, farewell, framing: cutAngles })
  const hearing = createHearing(talk.messages, protocol === 'udp:')
  try {
    const deadline = performance.now() + client.settings.timeoutMs
    family ??= await identify(client, talk, hearing)
    await ask(talk, questions(family, hearing.words))
    await ask(talk, meterCommands(family, hearing.words, family.meterMs))
    if (!(await untilTold(client, family, { hearing, deadline }))) return
    const device = describe(client, talk, { family, words: hearing.words })
    yield { device, channels: new Set(), metered: new Set(), malformed: 0, isWhole: true }

    const [dueMs, waitMs] = family.meterMs > 0 ? [refreshEveryMs, undefined] : [askEveryMs, askEveryMs]
    for (let askedAt = performance.now(); ; ) {
      const heard = await hearing.next(waitMs)
      if (heard === null) return
      const isDue = performance.now() - askedAt >= dueMs
      yield { ...heard, device, isWhole: heard.isWhole || isDue }
      if (!isDue) continue
      askedAt = performance.now()
      // Nobody waits for the turns this takes; a line that is lost says so by itself.
      ask(talk, questions(family, hearing.words)).catch(() => {})
    }
  } finally {
    talk.close()
  }
}

async function ask(talk: DeviceSocket, commands: readonly string[]): Promise<void> {
  for (const command of commands) await talk.send(command)
}

/** One question after the other, until an answer says what the device is. */
async function identify(client: UpstreamClient, talk: DeviceSocket, hearing: Hearing): Promise<Family> {
  const { host } = new URL(client.settings.baseUrl)
  for (const { commands, waitMs } of probes) {
    await ask(talk, commands)
    for (const until = performance.now() + waitMs; performance.now() < until; ) {
      if ((await hearing.next(until - performance.now())) === null) break
      const family = recognise(hearing.words)
      if (family !== null) return family
    }
  }
  const { words, hasHeard } = hearing
  const failureKind = words.MODEL !== undefined ? 'unsupported' : hasHeard() ? 'unusable' : 'none'
  throw new client.errors.ApiError(unrecognised(host, hearing), { failureKind })
}

function unrecognised(host: string, { words, hasHeard }: Hearing): string {
  if (words.MODEL !== undefined) return `${host} is a ${words.MODEL}, which Micwatch does not know`
  return hasHeard()
    ? `invalid response from ${host}: no Shure receiver answers so`
    : `${host} takes connections and says nothing; on SLX-D, allow Controller Access in its menu`
}

/**
 * Until it has told who it is and every channel has metered. Some devices never answer some of the questions, and some
 * channels answer none: after a pause, or at the latest at the deadline, what has answered counts. False on abort.
 */
async function untilTold(
  client: UpstreamClient,
  family: Family,
  { hearing, deadline }: { hearing: Hearing; deadline: number },
): Promise<boolean> {
  const { words } = hearing
  const { host } = new URL(client.settings.baseUrl)
  for (let toldAt = performance.now(); ; ) {
    const isSettled = performance.now() - toldAt > settledMs + family.meterMs
    if (isComplete(family, words) || (isSettled && isAnswered(family, words))) return true
    const leftMs = deadline - performance.now()
    if (leftMs <= 0) {
      if (numbersOf(family, words).length > 0) return true
      throw new client.errors.ApiError(`no answer from ${host} within ${client.settings.timeoutMs / 1000} s`)
    }
    const heard = await hearing.next(Math.min(settledMs, leftMs))
    if (heard === null) return false
    if (heard.isWhole || heard.channels.size > 0) toldAt = performance.now()
  }
}

/** Nothing is missing. */
function isComplete(family: Family, words: Words): boolean {
  const numbers = numbersOf(family, words)
  const isMetered = (number: number) => words[`${number} ${family.meterKey}`] !== undefined
  return hasAllNumbers(family, words) && hasIdentity(family, words) && numbers.every(isMetered)
}

/** No more answers are to be expected: its identity, which is asked for last, is there, or all its channels are. */
function isAnswered(family: Family, words: Words): boolean {
  if (numbersOf(family, words).length > 0) return hasIdentity(family, words) || hasAllNumbers(family, words)
  // An ANX4 without licences has no channels.
  return family.identityKeys.length > 0 && hasIdentity(family, words)
}

function hasAllNumbers(family: Family, words: Words): boolean {
  return numbersOf(family, words).length >= (countByModel(family, words.MODEL) ?? 1)
}

function hasIdentity({ identityKeys }: Family, words: Words): boolean {
  return identityKeys.every((key) => words[key] !== undefined)
}

function describe(
  client: UpstreamClient,
  talk: DeviceSocket,
  { family, words }: Pick<StringsDevice, 'family' | 'words'>,
): StringsDevice {
  const { hostname, host, port } = new URL(client.settings.baseUrl)
  // Behind a forwarded port the address is not the device's own, and others may share it.
  const isOwn = port === '2202'
  const ip = isOwn && isIPv4(talk.remoteAddress) ? talk.remoteAddress : null
  return { id: idOf(words, isOwn ? hostname : host), family, ip, called: client.settings.name ?? null, words }
}
