/** The one shape of every simulated system: how to reach it, what it heard, and the handles to make it misbehave. */

import type { MakerCode } from './cast.ts'
import type { ApiOptions, DeviceApi, RequestLog } from './device-api.ts'
import type { Fault, FaultScope } from './faults.ts'
import type { Beat, PushControls } from './push.ts'
import { createShow, type Show } from './show.ts'

export interface SimulatorOptions extends ApiOptions {
  /** A show to share; else one is made of `seed`, `receivers` and the rest. */
  readonly show?: Show
  readonly seed?: number
  readonly receivers?: number
  readonly channelsPerReceiver?: number
  readonly firstNumber?: number
  readonly story?: boolean
  /** When the show began, for systems that share one; now unless told. */
  readonly startedAt?: number
  /** How often a second a device's changes are pushed; 5 unless told, 0: only by `push.flush()`. */
  readonly pushesPerSecond?: number
}

export interface Simulator {
  readonly manufacturer: string
  readonly baseUrl: string
  /** What a manufacturer's record needs to reach this system. */
  readonly config: Readonly<Record<string, unknown>>
  readonly show: Show
  readonly requests: RequestLog
  readonly push: PushControls
  /** Devices the system lists at the moment. */
  readonly deviceCount: number
  /** Milliseconds since the show began. */
  elapsed(): number
  /** One fault at a time; null clears it. */
  setFault(fault: Fault | null, scope?: FaultScope): void
  /** Ends every socket and timer. */
  close(): Promise<void>
}

export interface Stage {
  readonly manufacturer: MakerCode
  readonly show: Show
  readonly elapsed: () => number
}

/** The part of the show that one manufacturer's system sees, and its time. */
export function setStage(manufacturer: MakerCode, receivers: number, options: SimulatorOptions): Stage {
  const { now = Date.now, startedAt = now(), show, ...rest } = options
  return {
    manufacturer,
    show: show ?? createShow({ ...rest, manufacturers: { [manufacturer]: options.receivers ?? receivers } }),
    elapsed: () => now() - startedAt,
  }
}

/** How one kind of system reaches those who listen to it. */
export interface Links {
  count(): number
  sent(): number
  send(text: string): void
  /** Says goodbye, then lets go. */
  close(): Promise<void>
}

export function toSimulator(
  stage: Stage,
  parts: { api: DeviceApi; beat: Beat; links: Links; config: Simulator['config'] },
): Simulator {
  const { manufacturer, show, elapsed } = stage
  const { api, beat, links, config } = parts
  return {
    manufacturer,
    baseUrl: api.baseUrl,
    config,
    show,
    requests: api.requests,
    push: {
      get links() {
        return links.count()
      },
      get sent() {
        return links.sent()
      },
      flush: beat.flush,
      pause: beat.pause,
      resume: beat.resume,
      send: links.send,
    },
    get deviceCount() {
      return show.countAt(elapsed(), manufacturer)
    },
    elapsed,
    setFault: api.setFault,
    async close() {
      beat.stop()
      await links.close()
      await api.close()
    },
  }
}
