/** A subscription session: a stream of events, and the list of what is to be told over it, which is put beside it. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { DeviceReport } from '../../../model/receiver.ts'
import type { UpstreamClient } from '../../../upstream/client.ts'
import { isRecord } from '../../../upstream/fields.ts'
import { openEventStream } from '../../../upstream/push.ts'
import type { PushEvent } from '../../plugin.ts'
import type { Partner } from '../dialogue.ts'
import { readSessionPath, streamPath } from '../realtime.ts'
import { firmwarePath, meteringPath, type Resources, sitePath, takeResource, versionPath } from './resources.ts'
import { familyOfDevice, toObservation } from './translate.ts'

/** One path that is refused refuses its whole list: four at a time is what was tried on real devices. */
const pathsAtOnce = 4
/** What was refused may be there later: a transmitter that is linked. */
const askAgainMs = 30_000
/** There is no keep-alive: a device that says nothing for so long is asked whether it is there. */
const quietMs = 3000
/** Meters that come faster are told with the next ones. */
const metersApartMs = 100
/** A stream that long without a word is opened anew, and tells everything again. */
const longestSilenceMs = 300_000

interface Told {
  readonly known: Resources
  readonly partner: Partner
}

/** Ends quietly on abort, throws the manufacturer's ApiError when the session is lost. */
export async function* subscribe(client: UpstreamClient, device: Told, signal: AbortSignal): AsyncGenerator<PushEvent> {
  const known = new Map(device.known)
  const channels = new Set<number>()
  const ended = new AbortController()
  const lifetime = AbortSignal.any([signal, ended.signal])
  let trouble: unknown
  const endWith = (error: unknown) => {
    trouble ??= error
    ended.abort()
  }
  let heardAt = performance.now()
  let toldAt = Number.NEGATIVE_INFINITY
  let wishes: Wishes | undefined
  try {
    for await (const { event, data } of openEventStream(client, streamPath, lifetime, {
      silentStreamMs: longestSilenceMs,
    })) {
      heardAt = performance.now()
      if (event === 'open') {
        const paths = [...(familyOfDevice(known)?.paths ?? []), sitePath, firmwarePath]
        wishes = makeWishes(client, readSessionPath(client, data), paths)
        wishes.keepAsking(lifetime).catch(endWith)
        watchSilence(client, () => performance.now() - heardAt, lifetime).catch(endWith)
        yield { type: 'open' }
      } else if (event === 'close') throw new client.errors.ApiError('the device closed the session')
      else {
        const before = linksOf(known)
        const changes = readChanges(data)
        if (changes === null) yield { type: 'ignored', reason: 'an event is not a JSON object' }
        else {
          for (const [path, body] of changes) takeResource(known, path, body)
          if (linksOf(known) !== before) wishes?.askAgain()
          const isMeters = changes.every(([path]) => path === meteringPath)
          if (isMeters && heardAt - toldAt < metersApartMs) continue
          toldAt = heardAt
          yield {
            type: 'told',
            report: withVanished(toObservation(known, device.partner), channels),
            isComplete: true,
          }
        }
      }
    }
    if (trouble !== undefined) throw trouble
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    ended.abort()
  }
}

/** `{"/api/…": body, …}`, or one resource as `{"path", "value"}`. */
export function readChanges(data: string): readonly (readonly [string, unknown])[] | null {
  const told = parseJson(data)
  if (!isRecord(told)) return null
  const { path, value } = told
  const changes = typeof path === 'string' && 'value' in told ? [[path, value] as const] : Object.entries(told)
  return changes.filter(([path]) => path.startsWith('/api/'))
}

/** A channel that is not told any more, as of a pack that was taken away, has nobody on it. `seen`: all that ever were. */
function withVanished(report: DeviceReport, seen: Set<number>): DeviceReport {
  const there = new Set(report.channels?.map(({ channel }) => channel))
  const vanished = [...seen].filter((channel) => !there.has(channel))
  for (const channel of there) seen.add(channel)
  const empty = vanished.map((channel) => ({
    ...{ channel, rf_level: null, audio_level: null, transmitter: null },
    details: { audio_peak: null, audio_rms: null },
  }))
  return empty.length === 0 ? report : { ...report, channels: [...(report.channels ?? []), ...empty] }
}

/** Which channels are without a transmitter, as a word to compare. */
function linksOf(known: Resources): string {
  const warnings = [...known].filter(([path]) => path.endsWith('/warnings'))
  return warnings.map(([path, words]) => `${path} ${String(words).includes('NoLink')}`).join('\n')
}

interface Wishes {
  keepAsking(signal: AbortSignal): Promise<never>
  askAgain(): void
}

/** What is to be told, until the device has taken every path of it. */
function makeWishes(client: UpstreamClient, session: string, paths: readonly string[]): Wishes {
  let wanted = [...paths]
  let wake = new AbortController()

  async function ask(signal: AbortSignal): Promise<void> {
    const refused: string[] = []
    for (let at = 0; at < wanted.length; at += pathsAtOnce) {
      const some = wanted.slice(at, at + pathsAtOnce)
      if (await add(some, signal)) continue
      for (const path of some) if (!(await add([path], signal))) refused.push(path)
    }
    if (refused.length === paths.length)
      throw new client.errors.ApiError('the device refuses everything it was asked to tell')
    wanted = refused
  }

  /** 400 and 404: there is no such resource; 422: not now, or the session is gone. */
  async function add(some: readonly string[], signal: AbortSignal): Promise<boolean> {
    const { status } = await client.request('PUT', `${session}/add`, { body: some, accept: [400, 404, 422], signal })
    return status < 300
  }

  return {
    async keepAsking(signal) {
      for (;;) {
        wake = new AbortController()
        await ask(signal)
        await sleep(askAgainMs, undefined, { signal: AbortSignal.any([signal, wake.signal]) }).catch(() => {})
        signal.throwIfAborted()
      }
    },
    askAgain: () => wake.abort(),
  }
}

/** Throws when the device says nothing and does not answer either, twice in a row. */
async function watchSilence(client: UpstreamClient, silentForMs: () => number, signal: AbortSignal): Promise<never> {
  for (let askedAt = Number.NEGATIVE_INFINITY; ; ) {
    const quietFor = Math.min(silentForMs(), performance.now() - askedAt)
    if (quietFor < quietMs) await sleep(quietMs - quietFor, undefined, { signal })
    else {
      const isThere = () => client.request('GET', versionPath, { signal })
      await isThere().catch(isThere)
      askedAt = performance.now()
    }
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
