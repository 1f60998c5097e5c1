/** Common interface of all simulated systems: address, request log and fault injection. */

import type { SimulatedManufacturer } from './cast.ts'
import type { ApiOptions, DeviceApi, RequestLog } from './device-api.ts'
import type { Fault, FaultScope } from './faults.ts'
import type { PushControls, PushTimer } from './push.ts'
import { createShow, type Show } from './show.ts'

export interface SimulatorOptions extends ApiOptions {
  /** A shared show; without it, one is created from `seed`, `receivers` and the other options. */
  readonly show?: Show
  readonly seed?: number
  readonly receivers?: number
  readonly channelsPerReceiver?: number
  readonly firstNumber?: number
  readonly story?: boolean
  /** Start time of the show. Systems that share a show must start at the same time. Default: now. */
  readonly startedAt?: number
  /** Pushes per second (default 5). With 0, changes are pushed only by `push.flush()`. */
  readonly pushesPerSecond?: number
}

export interface Simulator {
  readonly manufacturer: string
  readonly baseUrl: string
  /** Connection settings for the manufacturer record. */
  readonly config: Readonly<Record<string, unknown>>
  readonly show: Show
  readonly requests: RequestLog
  readonly push: PushControls
  /** Number of devices the system currently lists. */
  readonly deviceCount: number
  /** Milliseconds since the show began. */
  elapsed(): number
  /** Sets the active fault; null clears it. */
  setFault(fault: Fault | null, scope?: FaultScope): void
  /** Closes all sockets and timers. */
  close(): Promise<void>
}

/** A rack of individual devices, which are monitored without a system. */
export interface RackOptions {
  readonly seed: number
  /** Index of the performer on the rack's first channel. */
  readonly firstPerformer: number
  readonly startedAt: number
  /** Devices of each kind. Default: 1. */
  readonly copies?: number
}

export interface ShowContext {
  readonly manufacturer: SimulatedManufacturer
  readonly show: Show
  readonly elapsed: () => number
}

/** Returns the shared show, or creates one for this manufacturer, and adds its clock. */
export function createShowContext(
  manufacturer: SimulatedManufacturer,
  receivers: number,
  options: SimulatorOptions,
): ShowContext {
  const { now = Date.now, startedAt = now(), show, ...rest } = options
  return {
    manufacturer,
    show: show ?? createShow({ ...rest, manufacturers: { [manufacturer]: options.receivers ?? receivers } }),
    elapsed: () => now() - startedAt,
  }
}

/** Push connections of a simulated system. */
export interface PushConnections {
  count(): number
  sent(): number
  send(text: string): void
  /** Notifies every client that the system is closing, then closes the connections. */
  close(): Promise<void>
}

export function toSimulator(
  context: ShowContext,
  parts: { api: DeviceApi; pushTimer: PushTimer; connections: PushConnections; config: Simulator['config'] },
): Simulator {
  const { manufacturer, show, elapsed } = context
  const { api, pushTimer, connections, config } = parts
  return {
    manufacturer,
    baseUrl: api.baseUrl,
    config,
    show,
    requests: api.requests,
    push: {
      get connections() {
        return connections.count()
      },
      get sent() {
        return connections.sent()
      },
      flush: pushTimer.flush,
      pause: pushTimer.pause,
      resume: pushTimer.resume,
      send: connections.send,
    },
    get deviceCount() {
      return show.countAt(elapsed(), manufacturer)
    },
    elapsed,
    setFault: api.setFault,
    async close() {
      pushTimer.stop()
      await connections.close()
      await api.close()
    },
  }
}
